// The location cache by itself: what it remembers, what it replaces, and for how long it trusts.
#include "engine/client/location_cache.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

using engine::Entry;
using engine::Location;
using engine::LocationCache;

constexpr std::uint64_t short_trust_ns = 100;
constexpr std::uint64_t one_set = 4;  // entries; all keys share it
constexpr std::uint64_t shared_hash = 7;

Location location_at(std::uint64_t slot, std::uint64_t seen_ns = 0) {
  return {.slot = slot, .entry = Entry(slot << 32U), .container_bytes = 64, .seen_ns = seen_ns};
}

TEST(LocationCache, FindsWhatItRemembers) {
  LocationCache cache(1'000, short_trust_ns);
  cache.remember(bytes_of("a"), 1, location_at(10));
  cache.remember(bytes_of("b"), std::uint64_t{99} << 32U, location_at(20));
  const auto found = cache.find(bytes_of("a"), 1, 50);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->slot, 10U);
  EXPECT_EQ(found->entry, location_at(10).entry);
  EXPECT_EQ(found->container_bytes, 64U);
  EXPECT_EQ(cache.find(bytes_of("b"), std::uint64_t{99} << 32U, 50)->slot, 20U);
  EXPECT_FALSE(cache.find(bytes_of("c"), 1, 50));
}

TEST(LocationCache, WithoutEntriesIsOff) {
  EXPECT_FALSE(LocationCache(0, short_trust_ns).is_on());
  EXPECT_TRUE(LocationCache(1, short_trust_ns).is_on());
}

TEST(LocationCache, KeepsKeysOfOneHashApart) {
  LocationCache cache(one_set, short_trust_ns);
  cache.remember(bytes_of("a"), shared_hash, location_at(1));
  EXPECT_FALSE(cache.find(bytes_of("b"), shared_hash, 0));
  cache.remember(bytes_of("b"), shared_hash, location_at(2));
  EXPECT_EQ(cache.find(bytes_of("a"), shared_hash, 0)->slot, 1U);
  EXPECT_EQ(cache.find(bytes_of("b"), shared_hash, 0)->slot, 2U);
}

TEST(LocationCache, ReplacesWhatItRememberedOfAKey) {
  LocationCache cache(one_set, short_trust_ns);
  cache.remember(bytes_of("a"), shared_hash, location_at(1));
  cache.remember(bytes_of("a"), shared_hash, location_at(2));
  EXPECT_EQ(cache.find(bytes_of("a"), shared_hash, 0)->slot, 2U);
  for (const auto* key : {"b", "c", "d"})
    cache.remember(bytes_of(key), shared_hash, location_at(3));
  EXPECT_EQ(cache.find(bytes_of("a"), shared_hash, 0)->slot, 2U) << "the key takes one place";
}

TEST(LocationCache, ForgetsAKey) {
  LocationCache cache(one_set, short_trust_ns);
  cache.remember(bytes_of("a"), shared_hash, location_at(1));
  cache.remember(bytes_of("b"), shared_hash, location_at(2));
  cache.forget(bytes_of("a"), shared_hash);
  cache.forget(bytes_of("c"), shared_hash);
  EXPECT_FALSE(cache.find(bytes_of("a"), shared_hash, 0));
  EXPECT_TRUE(cache.find(bytes_of("b"), shared_hash, 0));
}

TEST(LocationCache, ReplacesTheKeyThatWasUsedLeastRecently) {
  LocationCache cache(one_set, short_trust_ns);
  for (const auto* key : {"a", "b", "c", "d"})
    cache.remember(bytes_of(key), shared_hash, location_at(1));
  cache.find(bytes_of("a"), shared_hash, 0);
  cache.remember(bytes_of("b"), shared_hash, location_at(1));
  cache.remember(bytes_of("e"), shared_hash, location_at(1));
  EXPECT_FALSE(cache.find(bytes_of("c"), shared_hash, 0));
  for (const auto* key : {"a", "b", "d", "e"}) {
    EXPECT_TRUE(cache.find(bytes_of(key), shared_hash, 0)) << key;
  }
}

TEST(LocationCache, ReplacesAForgottenKeyFirst) {
  LocationCache cache(one_set, short_trust_ns);
  for (const auto* key : {"a", "b", "c", "d"})
    cache.remember(bytes_of(key), shared_hash, location_at(1));
  cache.forget(bytes_of("d"), shared_hash);
  cache.remember(bytes_of("e"), shared_hash, location_at(1));
  for (const auto* key : {"a", "b", "c", "e"}) {
    EXPECT_TRUE(cache.find(bytes_of(key), shared_hash, 0)) << key;
  }
}

TEST(LocationCache, TrustsALocationForItsTime) {
  LocationCache cache(one_set, short_trust_ns);
  cache.remember(bytes_of("a"), shared_hash, location_at(1, 1'000));
  EXPECT_TRUE(cache.find(bytes_of("a"), shared_hash, 1'000 + short_trust_ns));
  EXPECT_FALSE(cache.find(bytes_of("a"), shared_hash, 1'001 + short_trust_ns))
      << "a use does not extend it";
  EXPECT_FALSE(cache.find(bytes_of("a"), shared_hash, 1'000 + short_trust_ns)) << "it is forgotten";
  cache.remember(bytes_of("a"), shared_hash, location_at(1, 2'000));
  EXPECT_TRUE(cache.find(bytes_of("a"), shared_hash, 2'000 + short_trust_ns));
}

}  // namespace
}  // namespace falafel::engine_test
