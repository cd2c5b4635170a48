// The process of one host: an existing program from its start to its end or crash, and all that it
// owns. Its threads are fibers, fibers of several hosts share a thread of the system, and C
// functions such as ibv_open_device and malloc do not say who calls them. So the system's thread
// remembers whose program code it runs:
//
//   ProgramCode   as long as it exists, code of that thread of the program runs
//   LibraryCall   the first line of every function that the program calls: the library runs
//
// Fibers only switch within a LibraryCall, which goes back to the code of its own thread when it
// ends. Objects of a process are used by the fibers of its host only.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "fabric/fabric.h"

namespace falafel::simulated_verbs {

class ConnectionManager;
class ProgramHeap;
class Sockets;
class Subnet;
class Thread;
class Threads;
class VerbsObjects;

class Process : public std::enable_shared_from_this<Process> {
 public:
  Process(Subnet& subnet, fabric::Host& host);
  // Ends the process as the kernel does: closes its sockets, and destroys its queue pairs and what
  // they use. Its heap stays as long as the subnet, because requests of peers may still land there.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  Subnet& subnet() const { return subnet_; }
  fabric::Host& host() const { return host_; }
  // The only port's LID: 1 for the host that was added first. See Subnet for addresses.
  std::uint16_t lid() const { return lid_; }
  ProgramHeap& heap() const { return heap_; }
  VerbsObjects& verbs() const { return *verbs_; }
  Sockets& sockets() const { return *sockets_; }
  Threads& threads() const { return *threads_; }
  // The kernel's part of rdma_cm. It exists from its first use on.
  ConnectionManager& connection_manager();
  // Notified by all that happens here without the program: completions, changes of registered
  // memory, and what arrives for its sockets.
  const std::shared_ptr<fabric::Event>& activity() const { return activity_; }
  // Lets others go on, until something happens here. So a program that polls in a loop does
  // not run alone, and looks again after each change. The wait is short, but grows while nothing
  // happens.
  void wait_for_activity();

 private:
  Subnet& subnet_;
  fabric::Host& host_;
  std::uint16_t lid_;
  ProgramHeap& heap_;
  std::shared_ptr<fabric::Event> activity_;
  std::uint64_t patience_ns_;
  std::unique_ptr<VerbsObjects> verbs_;
  std::unique_ptr<Sockets> sockets_;
  std::unique_ptr<Threads> threads_;
  std::shared_ptr<ConnectionManager> connection_manager_;
};

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
  Process& process() const { return process_; }
  fabric::Host& host() const { return process_.host(); }
  // Devices and peers work on between any two calls of a program. A call that looks at their work,
  // or gives them some, lets them go on first, or not.
  void let_others_go_on() const { process_.host().preemption_point(); }

 private:
  Thread& thread_;
  Process& process_;
};

}  // namespace falafel::simulated_verbs
