// The pointers that a client or the clients of a host keep, by the hash of their key (C-Hint 3.2,
// 3.4): ARC decides which, and clients report to the server those that they used lately.
//
// All times are those of the client's clock for leases.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "stores/c_hint/adaptive_replacement.h"
#include "stores/c_hint/messages.h"
#include "stores/c_hint/options.h"

namespace falafel::c_hint {

struct CachedPointer {
  std::uint64_t offset = 0;
  std::uint64_t item_bytes = 0;
  std::uint64_t version = 0;
  std::uint64_t lease_end_ns = 0;
};

class PointerCache {
 public:
  // `options` outlives this object.
  explicit PointerCache(const Options& options) : options_(options), arc_(options.pointers) {}

  // Null if there is none. Its lease may have ended.
  const CachedPointer* find(std::uint64_t hash) const;
  // A client got this pointer by a message. Nothing happens if a newer version is there.
  void put(std::uint64_t hash, const CachedPointer& pointer);
  // A client has READ by a pointer of this key. Nothing happens if there is none any more.
  void used(std::uint64_t hash);
  // The pointer leads nowhere. That the item was used is remembered. With a version, nothing
  // happens if another version is there.
  void drop(std::uint64_t hash) { pointers_.erase(hash); }
  void drop(std::uint64_t hash, std::uint64_t version);
  // The server has renewed the lease of this version.
  void renew(std::uint64_t hash, std::uint64_t version, std::uint64_t lease_end_ns);
  // Another run of the server has none of the items.
  void clear();

  // The most recently used items of ARC's two lists, Options::picks_per_list of each, without those
  // that were in the last Options::most_reports_in_a_row reports. An entry counts one access, or
  // with Options::report_counts the READs since the item was picked last.
  std::vector<ReportEntry> pick();

  std::uint64_t size() const { return pointers_.size(); }
  // By the hash of their key. Leases may have ended.
  const std::map<std::uint64_t, CachedPointer>& pointers() const { return pointers_; }

 private:
  void pick_from(const std::list<std::uint64_t>& list, std::vector<ReportEntry>& picked) const;

  const Options& options_;
  AdaptiveReplacement arc_;
  std::map<std::uint64_t, CachedPointer> pointers_;
  std::map<std::uint64_t, std::uint32_t> reports_in_a_row_;
  std::map<std::uint64_t, std::uint32_t> reads_;  // since the item was picked last
};

}  // namespace falafel::c_hint
