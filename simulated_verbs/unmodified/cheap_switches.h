// A call of a program takes two switches between processes. They cost a third if all processes are
// on one processor, and if none of them may read its time stamp counter: programs may not, and a
// virtual machine takes microseconds to change that at a switch.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <optional>

namespace falafel::simulated_verbs {

// As long as it exists, this process and those that it starts stay on one processor, and their
// instructions that read the counter fail.
class CheapSwitches {
 public:
  // The processor is that of this place among those that the process may use. Without a place, it
  // is the one on which the process is.
  explicit CheapSwitches(std::optional<unsigned> place = std::nullopt);
  ~CheapSwitches();
  CheapSwitches(const CheapSwitches&) = delete;
  CheapSwitches& operator=(const CheapSwitches&) = delete;

 private:
  cpu_set_t before_{};
};

// From now on, that process runs where this one does.
void move_to_this_processor(pid_t process);

// As long as it exists, this process and those that it starts may read the counter.
class PermittedTimeStamps {
 public:
  PermittedTimeStamps();
  ~PermittedTimeStamps();
  PermittedTimeStamps(const PermittedTimeStamps&) = delete;
  PermittedTimeStamps& operator=(const PermittedTimeStamps&) = delete;

 private:
  int before_ = 0;
};

// For a handler of SIGSEGV: if the instruction reads the counter, it may from now on.
bool permit_time_stamp(const unsigned char* instruction);

}  // namespace falafel::simulated_verbs
