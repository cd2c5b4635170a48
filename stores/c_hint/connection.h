// A client's connection to a server: READs of items, exchanges of messages
// (stores/exchange/client_end.h), and the container into which the server WRITEs its reply to a
// report.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "stores/bytes.h"
#include "stores/c_hint/messages.h"
#include "stores/c_hint/options.h"
#include "stores/c_hint/pointer_cache.h"
#include "stores/c_hint/results.h"
#include "stores/exchange/client_end.h"
#include "stores/registered_memory.h"

namespace falafel::c_hint {

struct Reply {
  ReplyHeader header{};
  std::vector<std::byte> value{};  // or what the server has put into the container
};

using stores::ExchangeOutcome;

class Connection final : private stores::Recipient {
 public:
  // One attempt. Errors: those of Device::connect, invalid_argument (the listener is no C-Hint
  // server of this version), out_of_memory. `options` and `statistics` outlive the connection.
  static fabric::Result<std::unique_ptr<Connection>> open(fabric::Host& host,
                                                          const fabric::Address& server,
                                                          const Options& options,
                                                          std::uint64_t client_id,
                                                          OperationStatistics& statistics);

  const ServerHello& server() const { return server_; }
  bool is_up() { return end_.is_up(); }

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
  Connection(fabric::Host& host, const Options& options, OperationStatistics& statistics);

  fabric::Result<void> prepare_container();
  stores::Meaning take(std::span<const std::byte> message, std::uint32_t awaited_id) override;
  bool is_reply(const ReplyHeader& header, std::uint64_t length_bytes) const;
  // Items are not longer than messages. A report is behind the item.
  std::uint64_t item_bytes() const { return stores::whole_words(server_.largest_message_bytes); }
  std::uint64_t report_offset() const { return item_bytes(); }

  fabric::Host& host_;
  const Options& options_;
  OperationStatistics& statistics_;
  ServerHello server_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  stores::RegisteredMemory container_;
  Reply reply_;
  stores::ClientEnd end_;  // destroyed first
};

}  // namespace falafel::c_hint
