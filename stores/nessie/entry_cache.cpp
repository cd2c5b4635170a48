#include "stores/nessie/entry_cache.h"

#include <iterator>
#include <utility>

namespace falafel::nessie {

const DataEntry* EntryCache::find(std::uint64_t word, std::uint64_t now_ns,
                                  std::uint64_t expires_ns) {
  const auto found = by_word_.find(word);
  if (found == by_word_.end()) return nullptr;
  const auto cached = found->second;
  if (cached->expires_ns <= now_ns) {
    erase(cached);
    return nullptr;
  }
  cached->expires_ns = expires_ns;
  entries_.splice(entries_.begin(), entries_, cached);
  return &cached->entry;
}

void EntryCache::insert(std::uint64_t word, DataEntry entry, std::uint64_t expires_ns) {
  if (most_entries_ == 0) return;
  if (const auto found = by_word_.find(word); found != by_word_.end()) erase(found->second);
  if (entries_.size() == most_entries_) erase(std::prev(entries_.end()));
  entries_.push_front({.word = word, .entry = std::move(entry), .expires_ns = expires_ns});
  by_word_[word] = entries_.begin();
}

void EntryCache::erase(List::iterator cached) {
  by_word_.erase(cached->word);
  entries_.erase(cached);
}

}  // namespace falafel::nessie
