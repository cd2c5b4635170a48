// How much memory a server takes, from its options and what the machine has.
#include "tools/server/memory_plan.h"

#include <gtest/gtest.h>

#include "tools/server/fill_warnings.h"

namespace falafel::server_program {
namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30U;
const MachineMemory machine_of_8_gib{.available_bytes = 8 * gib};
const MachineMemory machine_with_card{
    .grows_unasked = false, .obstacle = "device x0 has no paging", .available_bytes = 8 * gib};
const MachineMemory machine_with_paging_card{.grows_unasked = false, .available_bytes = 8 * gib};

TEST(MemoryPlan, WithoutSizesGrowsToHalfOfWhatIsAvailable) {
  const auto plan = plan_memory({}, {}, machine_of_8_gib);
  ASSERT_TRUE(plan.has_value()) << plan.error();
  EXPECT_TRUE(plan->grows);
  EXPECT_EQ(plan->sizing.memory_bytes, 4 * gib);
  EXPECT_EQ(plan->least_held_bytes, least_memory_bytes);
  const auto geometry = divide_memory(plan->sizing);
  ASSERT_TRUE(geometry.has_value()) << geometry.error();
  EXPECT_EQ(geometry->table_entries, 65'536U);
  const std::uint64_t last_table = geometry->entries_of(geometry->most_tables - 1);
  EXPECT_GE(last_table, 4 * gib / 128);
  EXPECT_LT(last_table, 4 * gib / 64);
}

TEST(MemoryPlan, HasFixedMemoryIfTheMemoryIsGivenOrCannotGrow) {
  for (const auto& [sizes, machine, memory_bytes] :
       {std::tuple{MemorySizes{.memory_bytes = gib}, machine_of_8_gib, gib},
        std::tuple{MemorySizes{.memory_bytes = gib}, machine_with_card, gib},
        std::tuple{MemorySizes{}, machine_with_card, fixed_memory_bytes},
        std::tuple{MemorySizes{}, machine_with_paging_card, fixed_memory_bytes},
        std::tuple{MemorySizes{.memory_bytes = gib}, machine_with_paging_card, gib}}) {
    const auto plan = plan_memory({}, sizes, machine);
    ASSERT_TRUE(plan.has_value()) << plan.error();
    EXPECT_FALSE(plan->grows);
    EXPECT_EQ(plan->sizing.memory_bytes, memory_bytes);
    EXPECT_FALSE(plan->sizing.most_entries.has_value());
  }
  const auto cache = plan_memory({}, {.fills_up = true}, machine_of_8_gib);
  ASSERT_TRUE(cache.has_value()) << cache.error();
  EXPECT_EQ(cache->sizing.memory_bytes, fixed_memory_bytes);
  const auto semi_spaces = plan_memory({.semi_spaces = true}, {}, machine_of_8_gib);
  ASSERT_TRUE(semi_spaces.has_value()) << semi_spaces.error();
  EXPECT_FALSE(semi_spaces->grows);
}

TEST(MemoryPlan, TakesBothSizesAndTheLengthsOfTheTable) {
  const auto plan =
      plan_memory({.most_entries = 1'000'000}, {.memory_bytes = gib, .max_memory_bytes = 2 * gib},
                  machine_of_8_gib);
  ASSERT_TRUE(plan.has_value()) << plan.error();
  EXPECT_TRUE(plan->grows);
  EXPECT_EQ(plan->sizing.memory_bytes, 2 * gib);
  EXPECT_EQ(plan->least_held_bytes, gib);
  EXPECT_EQ(plan->sizing.table_entries, 65'536U);
  EXPECT_EQ(plan->sizing.most_entries, 1'000'000U);
  const auto fixed_table = plan_memory({.table_entries = 100}, {}, machine_of_8_gib);
  ASSERT_TRUE(fixed_table.has_value()) << fixed_table.error();
  EXPECT_EQ(fixed_table->sizing.table_entries, 100U);
  EXPECT_FALSE(fixed_table->sizing.most_entries.has_value());
}

TEST(MemoryPlan, GrowsWhereAskedToOnADeviceThatPages) {
  const auto plan = plan_memory({}, {.max_memory_bytes = 2 * gib}, machine_with_paging_card);
  ASSERT_TRUE(plan.has_value()) << plan.error();
  EXPECT_TRUE(plan->grows);
  EXPECT_EQ(plan->sizing.memory_bytes, 2 * gib);
}

TEST(MemoryPlan, SaysWhatDoesNotFitTogether) {
  const auto error_of = [](const SizingOptions& sizing, const MemorySizes& sizes,
                           const MachineMemory& machine) {
    const auto plan = plan_memory(sizing, sizes, machine);
    return plan ? std::string() : plan.error();
  };
  EXPECT_EQ(error_of({}, {.max_memory_bytes = gib}, machine_with_card),
            "--max-memory: device x0 has no paging, so memory is pinned from the start and cannot "
            "grow; use --memory");
  EXPECT_NE(error_of({.semi_spaces = true}, {.max_memory_bytes = gib}, machine_of_8_gib)
                .find("--semi-spaces"),
            std::string::npos);
  EXPECT_NE(error_of({}, {.memory_bytes = 2 * gib, .max_memory_bytes = gib}, machine_of_8_gib)
                .find("--max-memory 1073741824 is less than the 2147483648"),
            std::string::npos);
}

TEST(RefusalWarnings, ComeWithNewRefusalsAtMostOnceAMinute) {
  constexpr std::uint64_t second_ns = 1'000'000'000;
  RefusalWarnings warnings;
  EXPECT_FALSE(warnings.examine({.held_bytes = 5, .limit_bytes = 9}, second_ns));
  const HeldAndRefused refused{.held_bytes = 5, .limit_bytes = 9, .refusals = 1};
  const auto warning = warnings.examine(refused, 2 * second_ns);
  ASSERT_TRUE(warning);
  EXPECT_NE(warning->find("holds 5 of at most 9 bytes"), std::string::npos) << *warning;
  EXPECT_FALSE(warnings.examine(refused, 100 * second_ns)) << "nothing was refused since";
  const HeldAndRefused again{.held_bytes = 5, .limit_bytes = 9, .refusals = 2};
  EXPECT_TRUE(warnings.examine(again, 101 * second_ns));
  const HeldAndRefused soon{.held_bytes = 5, .limit_bytes = 9, .refusals = 3};
  EXPECT_FALSE(warnings.examine(soon, 102 * second_ns));
  EXPECT_TRUE(warnings.examine(soon, 162 * second_ns));
}

}  // namespace
}  // namespace falafel::server_program
