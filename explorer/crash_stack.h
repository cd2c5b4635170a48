// The stack of a process that crashes: which functions had been called.
//
// The process writes down addresses only, into memory that it shares with another process, as
// little is allowed in a signal handler. That other process runs the same executable, and finds the
// names.
#pragma once

#include <csignal>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace falafel::explorer {

inline constexpr std::size_t most_stack_frames = 64;

// From its construction on, a crash of this process writes the return addresses of its stack to
// `frames`, the innermost first, which must be zeroed and outlive the object. Then the action
// follows that the signal had before. One object for a process.
class CrashStack {
 public:
  explicit CrashStack(std::span<const void*, most_stack_frames> frames);
  ~CrashStack();
  CrashStack(const CrashStack&) = delete;
  CrashStack& operator=(const CrashStack&) = delete;

 private:
  std::unique_ptr<std::byte[]> signal_stack_;
};

// A line for each function of the executable, with its source line if there is debug information.
// Starts another program (addr2line), so it takes a while.
std::string describe_stack(const std::vector<const void*>& frames);

}  // namespace falafel::explorer
