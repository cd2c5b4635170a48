// A cache that is full after a few values, for tests of what it evicts.
#pragma once

#include <gtest/gtest.h>

#include "tests/engine/store.h"

namespace falafel::engine_test {

// Room for about twenty values of 100 bytes.
inline StoreOptions small_cache(bool evicts) {
  StoreOptions options;
  options.server.geometry.table_entries = 256;
  options.server.geometry.region_bytes = 512;
  options.server.geometry.region_count = 4;
  options.server.geometry.mature_bytes = 4'096;
  options.server.geometry.values_expire = true;
  options.server.evicts = evicts;
  options.server.measurement_interval_ns = 100 * microsecond_ns;
  return options;
}

// Runs one client, without any problem.
inline StoreRun run_on_cache(const StoreOptions& options, const ClientBody& body) {
  fabric::FiberStackPool stacks;
  TestStore store(options, stacks);
  store.add_client(body);
  StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
  return run;
}

}  // namespace falafel::engine_test
