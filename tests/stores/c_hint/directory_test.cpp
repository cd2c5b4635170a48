// The server's directory: leases that it grants, and memory that is used again only when no lease
// runs any more.
#include "stores/c_hint/directory.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <string>

#include "stores/c_hint/layout.h"
#include "tests/stores/c_hint/bytes.h"

namespace falafel::c_hint {
namespace {

using c_hint_test::bytes_of;

constexpr std::uint64_t block_bytes = 64;

Options small_options() {
  Options options;
  options.items_bytes = 4 * block_bytes;
  options.unit_of_empty_memory_ns = 100;
  options.unit_of_full_memory_ns = 20;
  return options;
}

Item hash_of(const std::string& key) { return hash_of_key(bytes_of(key)); }

// The item that SET or a miss would cache.
bool put(Directory& directory, const std::string& key, std::uint64_t now_ns) {
  const auto offset = directory.allocate(block_bytes, now_ns);
  if (!offset) return false;
  const Place place{.offset = *offset, .item_bytes = block_bytes, .version = now_ns + 1};
  if (directory.find(bytes_of(key)) != nullptr) {
    directory.update(hash_of(key), place, now_ns);
  } else {
    directory.insert(bytes_of(key), place, now_ns);
  }
  return true;
}

std::uint64_t lease_of(const Directory& directory, const std::string& key) {
  return directory.find(bytes_of(key))->lease_end_ns;
}

TEST(Directory, GrantsLeasesByPopularityAndUse) {
  const Options options = small_options();
  Directory directory(options);
  put(directory, "a", 1'000);
  EXPECT_EQ(lease_of(directory, "a"), 1'080U);  // a quarter of the memory is in use
  directory.touch(hash_of("a"), 2'000);
  EXPECT_EQ(lease_of(directory, "a"), 2'160U);  // used twice: the next queue
  put(directory, "b", 2'000);
  EXPECT_EQ(lease_of(directory, "b"), 2'060U);
}

TEST(Directory, ForgetsALongerLeaseAsPublished) {
  for (const bool is_hardened : {false, true}) {
    Options options = small_options();
    options.safeguards.lease_never_shortens = is_hardened;
    Directory directory(options);
    put(directory, "a", 1'000);
    directory.touch(hash_of("a"), 1'000);
    EXPECT_EQ(lease_of(directory, "a"), 1'160U);
    for (const char* const key : {"b", "c", "d"}) put(directory, key, 1'010);
    directory.touch(hash_of("a"), 1'020);
    EXPECT_EQ(lease_of(directory, "a"), is_hardened ? 1'160U : 1'060U);
    EXPECT_EQ(directory.statistics().shorter_leases, 1U);
  }
}

TEST(Directory, KeepsTheMemoryOfRemovedItemsUntilTheirLeaseEnds) {
  const Options options = small_options();
  Directory directory(options);
  for (const char* const key : {"a", "b", "c", "d"}) put(directory, key, 1'000);
  const std::uint64_t end_ns = lease_of(directory, "d");
  directory.remove(hash_of("d"), 1'001);
  EXPECT_EQ(directory.find(bytes_of("d")), nullptr);
  EXPECT_EQ(directory.waiting().size(), 1U);
  EXPECT_FALSE(put(directory, "e", end_ns - 1));
  EXPECT_TRUE(put(directory, "e", end_ns));
  EXPECT_EQ(directory.waiting().size(), 0U);
}

TEST(Directory, GrantsNoLeaseBeyondTheLife) {
  for (const bool is_hardened : {false, true}) {
    Options options = small_options();
    options.safeguards.lease_within_life = is_hardened;
    Directory directory(options);
    const Place place{.offset = *directory.allocate(block_bytes, 1'000),
                      .item_bytes = block_bytes,
                      .version = 2,
                      .life_end_ns = 1'030};
    EXPECT_EQ(directory.insert(bytes_of("a"), place, 1'000).lease_end_ns,
              is_hardened ? 1'030U : 1'080U);
    EXPECT_EQ(directory.touch(hash_of("a"), 1'010).lease_end_ns, is_hardened ? 1'030U : 1'170U);
  }
}

// Clients may still have the earlier lease of the memory, but not of this item.
TEST(Directory, KeepsMemoryForALeaseThatOutlivesTheNextItem) {
  Options options = small_options();
  options.safeguards = Safeguards::hardened();
  Directory directory(options);
  put(directory, "a", 1'000);
  Place place{.offset = directory.find(bytes_of("a"))->offset,
              .item_bytes = block_bytes,
              .version = 4,
              .life_end_ns = 1'030};
  const Descriptor& descriptor = directory.update(hash_of("a"), place, 1'010);
  EXPECT_EQ(descriptor.lease_end_ns, 1'080U);
  EXPECT_EQ(directory.end_of_granted_lease(descriptor), 1'030U);
}

TEST(Directory, HasMemoryFromItsFirstOffset) {
  const Options options = small_options();
  Directory directory(options, 1'024);
  put(directory, "a", 1'000);
  put(directory, "b", 1'000);
  EXPECT_EQ(directory.find(bytes_of("a"))->offset, 1'024U);
  EXPECT_EQ(directory.allocated(), (std::map<std::uint64_t, std::uint64_t>{
                                       {1'024, block_bytes}, {1'024 + block_bytes, block_bytes}}));
  directory.remove(hash_of("a"), 1'000);
  EXPECT_EQ(directory.waiting().begin()->second, 1'024U);
  put(directory, "c", 10'000);
  EXPECT_EQ(directory.find(bytes_of("c"))->offset, 1'024U);
}

TEST(Directory, RenewsByReports) {
  const Options options = small_options();
  Directory directory(options);
  put(directory, "a", 1'000);
  EXPECT_EQ(directory.renew(hash_of("a"), 1, 1'050).lease_end_ns, 1'210U);
  EXPECT_EQ(directory.queue_of(hash_of("a")), 1U);
  EXPECT_EQ(directory.statistics().renewals, 1U);
  directory.renew(hash_of("a"), 6, 1'050);
  EXPECT_EQ(directory.queue_of(hash_of("a")), 3U);  // used eight times
}

// Memory that somebody was promised until a time is not given out before.
RC_GTEST_PROP(Directory, NeverUsesPromisedMemory, ()) {
  Options options = small_options();
  options.safeguards = Safeguards::hardened();
  options.clock_error_ns = *rc::gen::inRange<std::uint64_t>(0, 20);
  options.replacement = *rc::gen::element(ReplacementKind::popularity_queues, ReplacementKind::lru,
                                          ReplacementKind::multi_queue);
  Directory directory(options);
  std::map<std::uint64_t, std::uint64_t> promised_until_ns;  // by offset
  std::uint64_t now_ns = 1'000;
  const int steps = *rc::gen::inRange(1, 100);
  for (int step = 0; step < steps; ++step) {
    now_ns += *rc::gen::inRange<std::uint64_t>(0, 60);
    const std::string key(1, *rc::gen::inRange('a', 'h'));
    const int kind = *rc::gen::inRange(0, 4);
    const bool is_cached = directory.find(bytes_of(key)) != nullptr;
    if (kind == 0 && is_cached) {
      directory.remove(hash_of(key), now_ns);
    } else if (kind == 1 && is_cached) {
      const Descriptor& descriptor = directory.touch(hash_of(key), now_ns);
      std::uint64_t& until_ns = promised_until_ns[descriptor.offset];
      RC_ASSERT(descriptor.lease_end_ns >= until_ns);
      until_ns = descriptor.lease_end_ns;
    } else if (put(directory, key, now_ns)) {
      const Descriptor& descriptor = *directory.find(bytes_of(key));
      std::uint64_t& until_ns = promised_until_ns[descriptor.offset];
      RC_ASSERT(until_ns == 0U || until_ns + options.clock_error_ns <= now_ns);
      until_ns = descriptor.lease_end_ns;
    }
  }
}

}  // namespace
}  // namespace falafel::c_hint
