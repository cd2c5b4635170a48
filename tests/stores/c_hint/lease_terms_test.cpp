// The terms of leases, and when memory may be used again.
#include "stores/c_hint/lease_terms.h"
#include "fabric/time_units.h"

#include <gtest/gtest.h>

namespace falafel::c_hint {
namespace {

using fabric::second_ns;

TEST(LeaseTerms, RunFromFourTo256Seconds) {
  const Options options;
  EXPECT_EQ(lease_term_ns(options, 0, 0), 32 * second_ns);
  EXPECT_EQ(lease_term_ns(options, 0, options.items_bytes / 2), 18 * second_ns);
  EXPECT_EQ(lease_term_ns(options, 0, options.items_bytes), 4 * second_ns);
  EXPECT_EQ(lease_term_ns(options, 7, 0), 256 * second_ns);
  EXPECT_EQ(lease_term_ns(options, 7, options.items_bytes), 32 * second_ns);
}

TEST(LeaseTerms, OfOtherSystems) {
  EXPECT_EQ(lease_term_ns(static_terms({}, 8 * second_ns), 7, 0), 8 * second_ns);
  EXPECT_EQ(lease_term_ns(original({}), 0, 0), fabric::never_ns);
  EXPECT_EQ(lease_term_ns(lru({}), 0, 0), 0U);
}

TEST(LeaseTerms, NeverEndIfEndless) {
  EXPECT_EQ(end_of_lease(5, fabric::never_ns), fabric::never_ns);
  EXPECT_EQ(end_of_lease(5, 7), 12U);
  EXPECT_FALSE(may_reclaim({}, fabric::never_ns, fabric::never_ns));
}

TEST(LeaseTerms, MarginDelaysReclamation) {
  Options options;
  EXPECT_TRUE(may_reclaim(options, 100, 100));
  EXPECT_FALSE(may_reclaim(options, 101, 100));
  options.safeguards.clock_margin = true;
  options.clock_error_ns = 10;
  EXPECT_FALSE(may_reclaim(options, 91, 100));
  EXPECT_TRUE(may_reclaim(options, 90, 100));
}

TEST(Options, AreChecked) {
  const fabric::DeviceAttributes device{
      .max_message_bytes = 1U << 30, .max_queue_requests = 1'024, .max_completions = 1U << 20};
  EXPECT_EQ(find_invalid_option({}, device), std::nullopt);
  for (const auto& system : {original({}), lru({}), multi_queue({}), approximate_lru({})}) {
    EXPECT_EQ(find_invalid_option(system, device), std::nullopt);
  }
  Options options;
  options.items_bytes = 3 * options.min_block_bytes;
  EXPECT_EQ(find_invalid_option(options, device),
            "items_bytes is 192 but must be min_block_bytes (64) times a power of two");
  options = {};
  options.shards = 3;
  EXPECT_EQ(find_invalid_option(options, device),
            "shards is 3 but must be a power of two, and at most the 1048576 blocks of memory");
  options.shards = 2;
  EXPECT_EQ(find_invalid_option(options, device),
            "communication_threads is 0 but must be from 1 to 64");
  options = {};
  options.queues = 0;
  EXPECT_EQ(find_invalid_option(options, device), "queues is 0 but must be from 1 to 64");
}

TEST(Safeguards, AreDescribed) {
  const Safeguards all = Safeguards::hardened();
  for (const SafeguardDescription& safeguard : safeguard_descriptions) {
    EXPECT_TRUE(all.*safeguard.enabled) << safeguard.name;
    EXPECT_EQ(Safeguards::published().*safeguard.enabled, safeguard.is_published) << safeguard.name;
  }
}

}  // namespace
}  // namespace falafel::c_hint
