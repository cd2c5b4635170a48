// The local cache against a plain model.
#include "stores/nessie/entry_cache.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/stores/nessie/bytes.h"

namespace falafel::nessie_test {
namespace {

using nessie::DataEntry;
using nessie::EntryCache;

struct ModelEntry {
  std::uint64_t word;
  std::string value;
  std::uint64_t expires_ns;
};

// The least recent entry comes first.
class CacheModel {
 public:
  explicit CacheModel(std::uint64_t most) : most_(most) {}

  const std::string* find(std::uint64_t word, std::uint64_t now_ns, std::uint64_t expires_ns) {
    const auto found = std::ranges::find(entries_, word, &ModelEntry::word);
    if (found == entries_.end()) return nullptr;
    if (found->expires_ns <= now_ns) {
      entries_.erase(found);
      return nullptr;
    }
    found->expires_ns = expires_ns;
    std::rotate(found, found + 1, entries_.end());
    return &entries_.back().value;
  }
  void insert(std::uint64_t word, const std::string& value, std::uint64_t expires_ns) {
    std::erase_if(entries_, [word](const ModelEntry& entry) { return entry.word == word; });
    entries_.push_back({word, value, expires_ns});
    if (entries_.size() > most_) entries_.erase(entries_.begin());
  }
  std::size_t size() const { return entries_.size(); }

 private:
  std::uint64_t most_;
  std::vector<ModelEntry> entries_;
};

RC_GTEST_PROP(EntryCacheProperty, IsAnLruListWhoseEntriesExpire, ()) {
  const std::uint64_t most = *rc::gen::inRange<std::uint64_t>(0, 4);
  EntryCache cache(most);
  CacheModel model(most);
  std::uint64_t now_ns = 0;
  for (int step = 0; step < 60; ++step) {
    now_ns += *rc::gen::inRange<std::uint64_t>(0, 3);
    const std::uint64_t word = *rc::gen::inRange<std::uint64_t>(0, 5);
    const std::uint64_t expires_ns = now_ns + *rc::gen::inRange<std::uint64_t>(0, 9);
    if (*rc::gen::arbitrary<bool>()) {
      const std::string value = std::to_string(step);
      cache.insert(word, DataEntry{.value = bytes_of(value)}, expires_ns);
      model.insert(word, value, expires_ns);
    } else {
      const DataEntry* const found = cache.find(word, now_ns, expires_ns);
      const std::string* const expected = model.find(word, now_ns, expires_ns);
      RC_ASSERT((found == nullptr) == (expected == nullptr));
      if (found != nullptr) RC_ASSERT(text_of(found->value) == *expected);
    }
    RC_ASSERT(cache.size() == model.size());
  }
}

TEST(EntryCache, DropsTheLeastRecentEntry) {
  EntryCache cache(2);
  cache.insert(1, {}, 100);
  cache.insert(2, {}, 100);
  EXPECT_NE(cache.find(1, 0, 100), nullptr);
  cache.insert(3, {}, 100);
  EXPECT_EQ(cache.find(2, 0, 100), nullptr);
  EXPECT_NE(cache.find(1, 0, 100), nullptr);
}

}  // namespace
}  // namespace falafel::nessie_test
