// A node's cache of remote DTEs, which its clients share (4.1.3, 4.3.1): an LRU list of valid
// entries under their whole ITE words. An entry expires, because its DTE may be used again under
// the same word.
#pragma once

#include <cstdint>
#include <list>
#include <map>

#include "stores/nessie/layout.h"

namespace falafel::nessie {

class EntryCache {
 public:
  // 0: the cache stays empty.
  explicit EntryCache(std::uint64_t most_entries) : most_entries_(most_entries) {}

  // The entry under this ITE, or null if there is none or it has expired at `now_ns`. A hit becomes
  // the most recent entry, and expires at `expires_ns` from now on. Valid until the next call.
  const DataEntry* find(std::uint64_t word, std::uint64_t now_ns, std::uint64_t expires_ns);
  // Replaces the entry under this ITE; drops the least recent one if there are too many.
  void insert(std::uint64_t word, DataEntry entry, std::uint64_t expires_ns);

  std::uint64_t size() const { return by_word_.size(); }

 private:
  struct Cached {
    std::uint64_t word = 0;
    DataEntry entry;
    std::uint64_t expires_ns = 0;
  };
  using List = std::list<Cached>;

  void erase(List::iterator cached);

  std::uint64_t most_entries_;
  List entries_;  // the most recent one first
  std::map<std::uint64_t, List::iterator> by_word_;
};

}  // namespace falafel::nessie
