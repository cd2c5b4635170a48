// The settings that make switches between processes cheap end with a run, and the simulator may
// read clocks.
#include "simulated_verbs/unmodified/cheap_switches.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <x86intrin.h>

#include <cstddef>
#include <optional>
#include <set>

#include "processes/child_process.h"
#include "simulated_verbs/unmodified/memory_of_process.h"
#include "simulated_verbs/unmodified/processors_of_workers.h"

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

TEST(CheapSwitches, GivesPlacesTheirProcessors) {
  const int count = processors();
  const auto processor_of = [](unsigned place) {
    const CheapSwitches switches(place);
    return sched_getcpu();
  };
  std::set<int> used;
  for (int place = 0; place < count; ++place) {
    used.insert(processor_of(static_cast<unsigned>(place)));
  }
  EXPECT_EQ(used.size(), static_cast<std::size_t>(count));
  EXPECT_EQ(processor_of(static_cast<unsigned>(count)), processor_of(0));
}

TEST(ProcessorsOfWorkers, AreDifferent) {
  ProcessorsOfWorkers places(2);
  EXPECT_EQ(places.own(), 0);
  EXPECT_EQ(places.own(), 0);
  processes::ChildProcess worker([&] { return places.own() == 1 ? 0 : 1; });
  EXPECT_TRUE(worker.wait().is_success());
  EXPECT_EQ(ProcessorsOfWorkers(1).own(), std::nullopt);
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
