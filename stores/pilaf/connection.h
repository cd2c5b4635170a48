// A client's connection to the server: READs of its memory, and exchanges of messages. It ends when
// something fails or the server takes it down; the client then opens another one, whose memory is
// its own, so nothing that is still in flight can disturb it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "stores/pilaf/layout.h"
#include "stores/pilaf/messages.h"
#include "stores/pilaf/options.h"
#include "stores/pilaf/results.h"

namespace falafel::pilaf {

inline constexpr std::uint32_t entries_at_a_time = 8;

struct Reply {
  ReplyStatus status = ReplyStatus::alive;
  std::vector<std::byte> value{};
};

enum class ExchangeOutcome : std::uint8_t {
  answered,
  not_sent,   // the connection was down before
  in_doubt,   // the connection went down; the server may serve the request, or have served it
  timed_out,  // in doubt, too
};

class Connection {
 public:
  // One attempt. Errors: those of Device::connect, invalid_argument (the listener is no Pilaf
  // server of this version), out_of_memory. `options` and `statistics` outlive the connection.
  static fabric::Result<std::unique_ptr<Connection>> open(fabric::Host& host,
                                                          const fabric::Address& server,
                                                          const Options& options,
                                                          std::uint64_t client_id,
                                                          OperationStatistics& statistics);

  const ServerHello& server() const { return server_; }
  Geometry geometry() const;
  // Also learns whether the server has announced that it takes the connection down.
  bool is_up();

  // READs entries, at most entries_at_a_time, or an extent; each is one round trip. False: the
  // connection is down. A pointer to more than fits a request, or out of the extents, reads as
  // nothing, because such a READ would break the connection.
  bool read_entries(std::span<const std::uint64_t> slots, std::span<Entry> entries);
  bool read_extent(const ExtentPointer& pointer, std::vector<std::byte>& extent);

  // Sends a request, whose size is within the server's limit, and waits for its reply.
  ExchangeOutcome exchange(const RequestHeader& header, std::span<const std::byte> key,
                           std::span<const std::byte> value, std::uint64_t deadline_ns,
                           Reply& reply);

 private:
  // Identifiers of requests: the receive buffers, then these.
  static constexpr std::uint32_t receive_count = 2;
  static constexpr std::uint32_t send_id = receive_count;
  static constexpr std::uint32_t read_id = send_id + 1;
  static constexpr std::uint32_t check_id = read_id + 1;

  Connection(fabric::Host& host, const Options& options, OperationStatistics& statistics)
      : host_(host), options_(options), statistics_(statistics) {}

  fabric::Result<void> connect(const fabric::Address& server, std::uint64_t client_id);
  fabric::Result<void> prepare_buffers();
  std::uint64_t receive_offset(std::uint32_t buffer) const { return buffer * message_bytes_; }
  std::uint64_t send_offset() const { return receive_count * message_bytes_; }
  std::uint64_t extent_offset() const { return send_offset() + message_bytes_; }
  std::uint64_t entries_offset() const { return extent_offset() + message_bytes_; }
  std::uint64_t buffers_bytes() const {
    return entries_offset() + std::uint64_t{entries_at_a_time} * entry_bytes;
  }

  void post_receive(std::uint32_t buffer);
  fabric::WorkRequest read_request(std::uint64_t local, std::uint32_t key, std::uint64_t remote,
                                   std::uint32_t length_bytes) const;
  void post(std::span<const fabric::WorkRequest> chain);
  bool read(std::span<fabric::WorkRequest> chain);
  void wait_for_reply(std::uint64_t deadline_ns);
  void check_peer();
  template <typename Condition>
  bool wait_until(const Condition& condition, std::uint64_t deadline_ns);
  bool poll();
  void handle(const fabric::WorkCompletion& completion);
  void receive(std::uint32_t buffer, std::uint32_t length_bytes);

  fabric::Host& host_;
  const Options& options_;
  OperationStatistics& statistics_;
  ServerHello server_;
  std::uint64_t message_bytes_ = 0;  // of a buffer
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::unique_ptr<fabric::CompletionQueue> completions_;
  std::shared_ptr<fabric::MemoryBlock> buffers_;
  std::unique_ptr<fabric::MemoryRegion> region_;
  bool is_down_ = false;
  bool is_reading_ = false;
  bool is_sending_ = false;
  bool is_checking_ = false;
  std::uint32_t awaited_id_ = 0;  // of the request whose reply is awaited; 0: none
  std::optional<Reply> reply_;
  std::unique_ptr<fabric::QueuePair> queue_pair_;  // destroyed first
};

}  // namespace falafel::pilaf
