// Runs simulated programs under many schedules.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "explorer/check.h"
#include "simulated_verbs/programs.h"

// In a program: ends it with the line as its exit status unless the condition holds.
#define FALAFEL_REQUIRE(condition)                                                                 \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      return __LINE__;                                                                             \
    }                                                                                              \
  } while (false)

namespace falafel::simulated_verbs {

using AddPrograms = std::function<void(Programs&)>;

inline check::Body as_body(AddPrograms add) {
  return [add = std::move(add)](check::World& world) {
    Programs programs(world);
    add(programs);
    world.run();
  };
}

inline std::string name_of_test() {
  return testing::UnitTest::GetInstance()->current_test_info()->name();
}

inline void expect_success(AddPrograms add, check::Network network = {},
                           std::uint64_t schedules = 200) {
  const check::Options options{.name = name_of_test(),
                               .schedules = schedules,
                               .shrink_seconds = 2,
                               .output = testing::TempDir() + "simulated_verbs_test",
                               .network = std::move(network)};
  const check::WorldProgram program(options.name, options.network, as_body(std::move(add)));
  const check::Result result = check::run_campaign(program, options, {});
  EXPECT_TRUE(result.holds()) << result.story();
}

inline void expect_same_run_twice(AddPrograms add, std::uint64_t seeds = 20) {
  const check::WorldProgram program(name_of_test(), {}, as_body(std::move(add)));
  const auto runner = program.create_runner();
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto scenario = program.draw(seed);
    const explorer::Run first =
        runner->run(*scenario, *explorer::make_seeded_strategy(*scenario, seed));
    const explorer::Run second =
        runner->run(*scenario, *explorer::make_seeded_strategy(*scenario, seed));
    EXPECT_EQ(first.result.steps, second.result.steps) << "seed " << seed;
    EXPECT_EQ(first.result.trace_hash, second.result.trace_hash) << "seed " << seed;
  }
}

}  // namespace falafel::simulated_verbs
