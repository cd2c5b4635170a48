// A client's end of a connection over which it exchanges messages, one request and reply at a time,
// and READs the server's memory. It ends when something fails; the client then opens another one,
// whose memory is its own, so nothing that is still in flight can disturb it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "fabric/fabric.h"
#include "stores/registered_memory.h"
#include "stores/traffic.h"

namespace falafel::stores {

enum class ExchangeOutcome : std::uint8_t {
  answered,
  not_sent,   // the connection was down before
  in_doubt,   // the connection went down; the server may serve the request, or have served it
  timed_out,  // in doubt, too
};

// The meaning of a message from the server.
enum class Meaning : std::uint8_t { nothing, reply, end_of_connection };

class Recipient {
 public:
  virtual ~Recipient() = default;
  // `awaited_id`: the identifier of the request whose reply is awaited; 0: none. The server is not
  // trusted: a message that is too short, or a reply to another request, means nothing.
  virtual Meaning take(std::span<const std::byte> message, std::uint32_t awaited_id) = 0;
};

struct ClientEndOptions {
  std::uint32_t max_requests = 3;  // posted at once: a message, a check, and the store's own
  std::uint64_t server_timeout_ns = 0;
  std::uint64_t check_interval_ns = 0;  // how often a client that waits checks its connection
  std::uint64_t acknowledge_timeout_ns = 0;
  std::uint32_t retry_count = 0;
};

class ClientEnd {
 public:
  // All of them outlive this object. `traffic` counts what is posted and what arrives.
  ClientEnd(fabric::Host& host, fabric::ProtectionDomain& domain, const ClientEndOptions& options,
            Traffic& traffic, Recipient& recipient)
      : host_(host), domain_(domain), options_(options), traffic_(traffic), recipient_(recipient) {}

  // One attempt. Returns the server's private data. Errors: those of Device::connect.
  fabric::Result<fabric::PrivateData> connect(const fabric::Address& server,
                                              const fabric::PrivateData& hello);
  // Then: buffers for messages of this length at most, and for the store's own requests. Errors:
  // out_of_memory.
  fabric::Result<void> prepare(std::uint32_t message_bytes, std::uint64_t own_bytes);

  // Also takes what the server has sent.
  bool is_up();

  // The store's own buffer, and a request that uses it. Requests are unsignalled READs until the
  // caller says otherwise.
  std::span<std::byte> own_bytes(std::uint64_t offset, std::uint64_t length_bytes);
  fabric::WorkRequest own_request(std::uint64_t own_offset, std::uint32_t remote_key,
                                  std::uint64_t remote_offset, std::uint32_t length_bytes) const;
  // Posts READs and waits for them: one round trip. False: the connection is down.
  bool read(std::span<fabric::WorkRequest> chain);

  struct Message {
    std::uint32_t request_id = 0;
    std::span<const std::byte> header;
    std::span<const std::byte> key{};
    std::span<const std::byte> value{};
  };
  // Sends a request, whose size is within the limit, and waits for its reply. `before` is an
  // unsignalled request that is carried out before the message arrives.
  ExchangeOutcome exchange(const Message& message, std::uint64_t deadline_ns,
                           const std::optional<fabric::WorkRequest>& before = std::nullopt);

 private:
  // Identifiers of requests: the receive buffers, then these.
  static constexpr std::uint32_t receive_count = 2;
  static constexpr std::uint32_t send_id = receive_count;
  static constexpr std::uint32_t own_id = send_id + 1;
  static constexpr std::uint32_t check_id = own_id + 1;
  static constexpr std::uint32_t before_id = check_id + 1;

  std::uint64_t receive_offset(std::uint32_t buffer) const { return buffer * buffer_bytes_; }
  std::uint64_t send_offset() const { return receive_count * buffer_bytes_; }
  std::uint64_t own_offset() const { return send_offset() + buffer_bytes_; }

  void post_receive(std::uint32_t buffer);
  void post(std::span<const fabric::WorkRequest> chain);
  fabric::WorkRequest send_request(const Message& message);
  void wait_for_reply(std::uint64_t deadline_ns);
  void check_peer();
  template <typename Condition>
  bool wait_until(const Condition& condition, std::uint64_t deadline_ns);
  bool poll();
  void handle(const fabric::WorkCompletion& completion);
  void receive(std::uint32_t buffer, std::uint32_t length_bytes);

  fabric::Host& host_;
  fabric::ProtectionDomain& domain_;
  const ClientEndOptions options_;
  Traffic& traffic_;
  Recipient& recipient_;
  std::uint32_t message_bytes_ = 0;
  std::uint64_t buffer_bytes_ = 0;
  std::unique_ptr<fabric::CompletionQueue> completions_;
  RegisteredMemory buffers_;
  bool is_down_ = false;
  bool is_reading_ = false;
  bool is_sending_ = false;
  bool is_checking_ = false;
  std::uint32_t awaited_id_ = 0;
  bool is_answered_ = false;
  std::unique_ptr<fabric::QueuePair> queue_pair_;  // destroyed first
};

}  // namespace falafel::stores
