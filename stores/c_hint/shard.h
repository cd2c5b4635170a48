// A shard of the server (C-Hint 2.1): a single thread that carries out requests on the items of its
// partition. It has a directory and a part of the registered memory, and asks the backend.
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

  ShardStatistics& operator+=(const ShardStatistics& other);
};

struct ShardReply {
  ReplyStatus status = ReplyStatus::alive;
  RemotePointer pointer{};
  std::vector<std::byte> value{};
};

// A report on its way through the shards, and its reply. Each shard renews the leases of its items.
struct ReportProgress {
  std::vector<ReportEntry> entries{};
  std::vector<RenewedLease> leases{};  // of the same items
  std::uint64_t budget_left_ns = 0;
};

// The number of the shard that has the keys with this hash.
constexpr std::uint32_t shard_of(std::uint64_t hash, std::uint32_t shards) {
  return static_cast<std::uint32_t>(hash >> 32) % shards;
}

class Shard {
 public:
  // The shard of this number, of options.shards. Everything outlives this object; `backend` may be
  // null: then what is evicted is lost. `memory` has options.items_bytes. Items are verified by
  // `verifier`.
  Shard(fabric::Host& host, fabric::MemoryBlock& memory, Backend* backend, const Options& options,
        const Verifier& verifier, std::uint32_t number)
      : host_(host),
        memory_(memory),
        backend_(backend),
        options_(options_of_part(options)),
        verifier_(verifier),
        number_(number),
        directory_(options_, number * options_.items_bytes) {}

  // All of them may wait.
  ShardReply get(std::span<const std::byte> key);
  ShardReply set(std::span<const std::byte> key, std::span<const std::byte> value,
                 std::uint64_t life_ns);  // 0: without end
  ShardReply remove(std::span<const std::byte> key);
  void report(ReportProgress& report);

  const Directory& directory() const { return directory_; }
  const ShardStatistics& statistics() const { return statistics_; }

 private:
  static Options options_of_part(Options options) {
    options.items_bytes /= options.shards;
    return options;
  }
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
  const Options options_;
  Verifier verifier_;
  std::uint32_t number_;
  Directory directory_;
  std::uint64_t last_version_ = 0;
  ShardStatistics statistics_;
};

}  // namespace falafel::c_hint
