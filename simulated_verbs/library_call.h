// The process whose code runs. Fibers of several hosts share a thread of the system, and C
// functions such as ibv_open_device and malloc do not say who calls them. So the system's thread
// remembers whose program code it runs:
//
//   ProgramCode   as long as it exists, code of that thread of the program runs
//   LibraryCall   the first line of every function that the program calls: the library runs
//
// Fibers only switch within a LibraryCall, which goes back to the code of its own thread when it
// ends.
#pragma once

#include <string_view>

#include "fabric/fabric.h"
#include "simulated_verbs/thread.h"

namespace falafel::simulated_verbs {

class Process;

// The process whose program code this thread runs; null within the library and the simulator.
Process* running_process();
Thread* running_thread();

class ProgramCode {
 public:
  explicit ProgramCode(Thread& thread);
  ~ProgramCode();
  ProgramCode(const ProgramCode&) = delete;
  ProgramCode& operator=(const ProgramCode&) = delete;
};

class LibraryCall {
 public:
  // Throws a std::logic_error that names the function if no program runs on this thread.
  explicit LibraryCall(std::string_view function);
  ~LibraryCall();
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;

  Thread& thread() const { return thread_; }
  Process& process() const { return thread_.process(); }
  fabric::Host& host() const { return thread_.host(); }
  // Devices and peers work on between any two calls of a program. A call that looks at their work,
  // or gives them some, lets them go on first, or not.
  void let_others_go_on() const { host().preemption_point(); }

 private:
  Thread& thread_;
};

}  // namespace falafel::simulated_verbs
