// Helpers that run a store in several schedules and expect no problems.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

#include "tests/engine/store.h"

namespace falafel::engine_test {

// Calls `test` with each seed from 1 to `count`.
inline void for_each_seed(
    std::uint64_t count,
    const std::function<void(std::uint64_t seed, fabric::FiberStackPool& stacks)>& test) {
  fabric::FiberStackPool stacks;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    SCOPED_TRACE(seed);
    test(seed, stacks);
  }
}

inline StoreRun run_without_problems(TestStore& store) {
  StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
  return run;
}

}  // namespace falafel::engine_test
