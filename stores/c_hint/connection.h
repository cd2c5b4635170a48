// A client's connection to the server: READs of items, exchanges of messages, and the container
// into which the server WRITEs its reply to a report. It ends when something fails; the client then
// opens another one, whose memory is its own, so nothing that is still in flight can disturb it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "stores/c_hint/messages.h"
#include "stores/c_hint/options.h"
#include "stores/c_hint/pointer_cache.h"
#include "stores/c_hint/results.h"

namespace falafel::c_hint {

struct Reply {
  ReplyHeader header{};
  std::vector<std::byte> value{};  // or what the server has put into the container
};

enum class ExchangeOutcome : std::uint8_t {
  answered,
  not_sent,   // the connection was down before
  in_doubt,   // the connection went down; the server may serve the request, or have served it
  timed_out,  // in doubt, too
};

class Connection {
 public:
  // One attempt. Errors: those of Device::connect, invalid_argument (the listener is no C-Hint
  // server of this version), out_of_memory. `options` and `statistics` outlive the connection.
  static fabric::Result<std::unique_ptr<Connection>> open(fabric::Host& host,
                                                          const fabric::Address& server,
                                                          const Options& options,
                                                          std::uint64_t client_id,
                                                          OperationStatistics& statistics);

  const ServerHello& server() const { return server_; }
  bool is_up();

  // READs an item; one round trip. Nothing: the connection is down. A pointer to more than fits a
  // message, or out of the items, reads as an empty item, because such a READ would break the
  // connection.
  std::optional<std::vector<std::byte>> read(const CachedPointer& pointer);

  // Sends a request, whose size is within the server's limit, and waits for its reply.
  ExchangeOutcome exchange(const RequestHeader& header, std::span<const std::byte> key,
                           std::span<const std::byte> value, std::uint64_t deadline_ns,
                           Reply& reply);
  // WRITEs a report into the server's container, notifies the server, and waits for its reply.
  ExchangeOutcome report_by_write(RequestHeader header, std::span<const std::byte> report,
                                  std::uint64_t deadline_ns, Reply& reply);

 private:
  // Identifiers of requests: the receive buffers, then these.
  static constexpr std::uint32_t receive_count = 2;
  static constexpr std::uint32_t send_id = receive_count;
  static constexpr std::uint32_t read_id = send_id + 1;
  static constexpr std::uint32_t check_id = read_id + 1;
  static constexpr std::uint32_t write_id = check_id + 1;

  Connection(fabric::Host& host, const Options& options, OperationStatistics& statistics)
      : host_(host), options_(options), statistics_(statistics) {}

  fabric::Result<void> prepare_container();
  fabric::Result<void> connect(const fabric::Address& server, std::uint64_t client_id);
  fabric::Result<void> prepare_buffers();
  std::uint64_t receive_offset(std::uint32_t buffer) const { return buffer * message_bytes_; }
  std::uint64_t send_offset() const { return receive_count * message_bytes_; }
  std::uint64_t item_offset() const { return send_offset() + message_bytes_; }
  std::uint64_t report_offset() const { return item_offset() + message_bytes_; }
  std::uint64_t buffers_bytes() const { return report_offset() + container_bytes_; }

  void post_receive(std::uint32_t buffer);
  void post(std::span<const fabric::WorkRequest> chain);
  fabric::WorkRequest message(const RequestHeader& header, std::span<const std::byte> key,
                              std::span<const std::byte> value);
  ExchangeOutcome exchange(std::span<const fabric::WorkRequest> chain, std::uint32_t request_id,
                           std::uint64_t deadline_ns, Reply& reply);
  void wait_for_reply(std::uint64_t deadline_ns);
  void check_peer();
  template <typename Condition>
  bool wait_until(const Condition& condition, std::uint64_t deadline_ns);
  bool poll();
  void handle(const fabric::WorkCompletion& completion);
  void receive(std::uint32_t buffer, std::uint32_t length_bytes);
  bool is_awaited(const ReplyHeader& header, std::uint32_t length_bytes) const;

  fabric::Host& host_;
  const Options& options_;
  OperationStatistics& statistics_;
  ServerHello server_;
  std::uint64_t message_bytes_ = 0;    // of a buffer
  std::uint64_t container_bytes_ = 0;  // of each container
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  std::unique_ptr<fabric::CompletionQueue> completions_;
  std::shared_ptr<fabric::MemoryBlock> container_;
  std::unique_ptr<fabric::MemoryRegion> container_region_;
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

}  // namespace falafel::c_hint
