// The settings that make switches between processes cheap end with a run, and the simulator may
// read clocks.
#include "simulated_verbs/unmodified/cheap_switches.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <x86intrin.h>

#include "simulated_verbs/unmodified/memory_of_process.h"

namespace falafel::simulated_verbs {
namespace {

int processors() {
  cpu_set_t set{};
  sched_getaffinity(0, sizeof set, &set);
  return CPU_COUNT(&set);
}

int time_stamp_setting() {
  int setting = 0;
  prctl(PR_GET_TSC, &setting);
  return setting;
}

TEST(CheapSwitches, KeepsTheProcessOnOneProcessor) {
  const int before = processors();
  {
    const CheapSwitches switches;
    EXPECT_EQ(processors(), 1);
  }
  EXPECT_EQ(processors(), before);
}

TEST(CheapSwitches, ForbidsTimeStampsUntilItEnds) {
  {
    const CheapSwitches switches;
    EXPECT_EQ(time_stamp_setting(), PR_TSC_SIGSEGV);
    {
      const PermittedTimeStamps permitted;
      EXPECT_EQ(time_stamp_setting(), PR_TSC_ENABLE);
    }
    EXPECT_EQ(time_stamp_setting(), PR_TSC_SIGSEGV);
  }
  EXPECT_EQ(time_stamp_setting(), PR_TSC_ENABLE);
}

TEST(CheapSwitches, TheSimulatorMayReadTimeStamps) {
  serve_memory_of_processes();
  unsigned processor = 0;
  {
    const CheapSwitches switches;
    EXPECT_NE(__rdtsc(), 0);
  }
  const CheapSwitches switches;
  EXPECT_NE(__rdtscp(&processor), 0);
}

}  // namespace
}  // namespace falafel::simulated_verbs
