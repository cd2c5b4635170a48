// A client's connection to a server: READs of entries and extents, and exchanges of messages
// (stores/exchange/client_end.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "stores/bytes.h"
#include "stores/checksum.h"
#include "stores/exchange/client_end.h"
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

using stores::ExchangeOutcome;

class Connection final : private stores::Recipient {
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
  // The checksum of extents.
  stores::Checksum checksum() const;
  // Also learns whether the server has announced that it takes the connection down.
  bool is_up() { return end_.is_up(); }

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
  Connection(fabric::Host& host, const Options& options, OperationStatistics& statistics);

  stores::Meaning take(std::span<const std::byte> message, std::uint32_t awaited_id) override;
  // Messages are put where extents are read, so extents are not longer.
  std::uint64_t extent_bytes() const { return stores::whole_words(server_.largest_request_bytes); }
  std::uint64_t entries_offset() const { return extent_bytes(); }

  OperationStatistics& statistics_;
  ServerHello server_;
  std::unique_ptr<fabric::ProtectionDomain> domain_;
  Reply reply_;
  stores::ClientEnd end_;  // destroyed first
};

}  // namespace falafel::pilaf
