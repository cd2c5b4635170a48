// The identity of a process, which others can write down. It stays unique when the system reuses
// the number of the process, and when the machine has been started again.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace falafel::fabric {

struct ProcessIdentity {
  std::int32_t number = 0;         // 0: in a namespace of processes that does not see it
  std::uint64_t started = 0;       // in ticks since the machine's start; 0: unknown
  std::uint64_t of_namespace = 0;  // the namespace of processes in which it has this number
  std::uint64_t boot = 0;          // identifies the run of the machine
};

// As this process sees the process of that number.
ProcessIdentity identity_of(pid_t number);

// Returns true only if the process has ended for certain. Does not depend on permissions.
bool has_ended(const ProcessIdentity& process);

// For people: "process 17 (falafel)".
std::string describe(const ProcessIdentity& process);

}  // namespace falafel::fabric
