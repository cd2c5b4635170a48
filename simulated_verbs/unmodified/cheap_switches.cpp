#include "simulated_verbs/unmodified/cheap_switches.h"

#include <sys/prctl.h>

#include <cstring>

namespace falafel::simulated_verbs {

namespace {

constexpr unsigned char rdtsc[] = {0x0f, 0x31};
constexpr unsigned char rdtscp[] = {0x0f, 0x01, 0xf9};

// A negative number if the system does not say.
int processor_at(const cpu_set_t& permitted, std::optional<unsigned> place) {
  const int count = CPU_COUNT(&permitted);
  if (!place || count == 0) return sched_getcpu();
  auto left = static_cast<int>(*place % static_cast<unsigned>(count));
  for (unsigned processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(processor, &permitted) && left-- == 0) return static_cast<int>(processor);
  }
  return -1;
}

}  // namespace

// If the system refuses, switches cost more, and nothing else changes.
CheapSwitches::CheapSwitches(std::optional<unsigned> place) {
  sched_getaffinity(0, sizeof before_, &before_);
  const int processor = processor_at(before_, place);
  if (processor >= 0) {
    cpu_set_t only{};
    CPU_SET(static_cast<unsigned>(processor), &only);
    sched_setaffinity(0, sizeof only, &only);
  }
  prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
}

CheapSwitches::~CheapSwitches() {
  prctl(PR_SET_TSC, PR_TSC_ENABLE);
  sched_setaffinity(0, sizeof before_, &before_);
}

void move_to_this_processor(pid_t process) {
  cpu_set_t own{};
  sched_getaffinity(0, sizeof own, &own);
  sched_setaffinity(process, sizeof own, &own);
}

PermittedTimeStamps::PermittedTimeStamps() {
  prctl(PR_GET_TSC, &before_);
  prctl(PR_SET_TSC, PR_TSC_ENABLE);
}

PermittedTimeStamps::~PermittedTimeStamps() { prctl(PR_SET_TSC, before_); }

bool permit_time_stamp(const unsigned char* instruction) {
  const bool reads = std::memcmp(instruction, rdtsc, sizeof rdtsc) == 0 ||
                     std::memcmp(instruction, rdtscp, sizeof rdtscp) == 0;
  return reads && prctl(PR_SET_TSC, PR_TSC_ENABLE) == 0;
}

}  // namespace falafel::simulated_verbs
