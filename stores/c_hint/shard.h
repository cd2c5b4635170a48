// The server's shard (C-Hint 2.1): a single thread that carries out requests on the items of its
// partition. It owns the registered memory of the items, its directory, and asks the backend.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "stores/c_hint/backend.h"
#include "stores/c_hint/directory.h"
#include "stores/c_hint/layout.h"
#include "stores/c_hint/messages.h"
#include "stores/c_hint/options.h"

namespace falafel::c_hint {

struct ShardStatistics {
  std::uint64_t hits = 0;         // of GETs
  std::uint64_t misses = 0;       // of GETs
  std::uint64_t expirations = 0;  // items whose life had ended when a request came
  std::uint64_t reports = 0;
  std::uint64_t in_place_updates = 0;
};

struct ShardReply {
  ReplyStatus status = ReplyStatus::alive;
  RemotePointer pointer{};
  std::vector<std::byte> value{};
};

struct ReportReply {
  std::vector<RenewedLease> leases{};
  std::uint64_t budget_left_ns = 0;
};

class Shard {
 public:
  // Everything outlives this object; `backend` may be null: then what is evicted is lost. `memory`
  // has options.items_bytes. Items are verified by `verifier`.
  Shard(fabric::Host& host, fabric::MemoryBlock& memory, Backend* backend, const Options& options,
        const Verifier& verifier)
      : host_(host),
        memory_(memory),
        backend_(backend),
        options_(options),
        verifier_(verifier),
        directory_(options) {}

  // All of them may wait.
  ShardReply get(std::span<const std::byte> key);
  ShardReply set(std::span<const std::byte> key, std::span<const std::byte> value,
                 std::uint64_t life_ns);  // 0: without end
  ShardReply remove(std::span<const std::byte> key);
  ReportReply report(std::span<const ReportEntry> entries);

  const Directory& directory() const { return directory_; }
  const ShardStatistics& statistics() const { return statistics_; }

 private:
  std::uint64_t lease_clock_ns();
  std::uint64_t lease_for_reply(const Descriptor& descriptor, std::uint64_t now_ns) const;
  RemotePointer pointer_to(const Descriptor* descriptor);
  std::vector<std::byte> value_of(const Descriptor& descriptor);
  std::uint64_t life_end_by_lease_clock(std::uint64_t life_end_ns);
  const Descriptor* unless_expired(const Descriptor* descriptor);
  const Descriptor* cache(std::span<const std::byte> key, const BackendValue& value);
  const Descriptor* change_in_place(const Descriptor& old, std::span<const std::byte> key,
                                    const BackendValue& value);
  void spend_on(std::uint64_t item_bytes);
  void mark_deleted(const Descriptor& descriptor);
  void drop(const Descriptor* descriptor);

  fabric::Host& host_;
  fabric::MemoryBlock& memory_;
  Backend* backend_;
  const Options& options_;
  Verifier verifier_;
  Directory directory_;
  std::uint64_t last_version_ = 0;
  ShardStatistics statistics_;
};

}  // namespace falafel::c_hint
