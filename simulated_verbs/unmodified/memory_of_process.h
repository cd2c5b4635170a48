// Programs pass pointers into memory that only their process has mapped, such as variables of
// shared libraries. While a call is carried out, an access there gets the page from the process.
// The bytes that have changed in it go back when the call ends.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>

namespace falafel::simulated_verbs {

// Handles SIGSEGV from now on. Other faults take the action that they took before.
void serve_memory_of_processes();

// Runs the function, which is a call of that process. If it accesses memory that the process does
// not have either, the call ends there, without destructors: returns the address. The run cannot go
// on after that.
std::optional<std::uint64_t> run_with_memory_of(pid_t process, const std::function<void()>& call);

}  // namespace falafel::simulated_verbs
