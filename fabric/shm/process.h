// The fabric over shared memory. Hosts are threads or processes of one machine, and the thread that
// posts a request also carries it out. fabric/fabric.h states the contract, docs/shm.md explains
// the method.
//
//   auto process = shm::Process::create({.directory = "/run/user/1000/falafel"}).value();
//   auto host = process->create_host("server").value();
//   host->run_program([&] { ... });
//
// Capabilities: RC only; atomics are those of the processor (AtomicCapability::global); the MTU is
// 4096.
//
// Trust: the peers of a connection map each other's whole shared memory. The requester checks the
// rights, so they prevent errors, not attacks. Anyone who may open the socket of a host is trusted:
// the same user, root, and the group that the host's folder is open to (fabric/shm/trust.h).
//
// Kept memory (Host::keep_memory) is one file per process, which peers reach through connections
// that this process has accepted after it began to keep it. Other connections get access errors.
// It serves on when this process has ended without closing its queue pairs: requests of peers
// succeed until the next process keeps it, at most for kept_memory_serves_on_ns
// (fabric/realtime/kept_file.h). Their messages then reach nobody.
//
// Fencing: after QueuePair::move_to_error, no request of the peer begins. A request in progress
// must end first. The flushes therefore complete when the peer has cleared its flag in shared
// memory, or when its process has ended (pidfd). A peer that a signal stops in the middle of a
// request delays the flushes until it resumes or is killed. QueuePair::close also waits for that
// before memory is unmapped.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "fabric/fabric.h"
#include "fabric/realtime/host.h"
#include "fabric/shm/process_options.h"

namespace falafel::shm {

class ProcessState;

// A process in the fabric: its shared memory and the thread that makes its connections.
// Thread-safe.
class Process {
 public:
  // Errors: invalid_argument (the directory is empty), out_of_memory.
  static fabric::Result<std::unique_ptr<Process>> create(const ProcessOptions& options);
  // All hosts must have been destroyed.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Creates a host whose devices are all alike. Its name becomes the name of a folder: up to 64
  // letters, digits, `-`, `_` and `.`, not starting with `.`. Several hosts may share a name, but
  // only one of them can listen to a service. Errors: invalid_argument (name).
  fabric::Result<std::unique_ptr<fabric::RealTimeHost>> create_host(const std::string& name,
                                                                    std::size_t device_count = 1);

 private:
  explicit Process(std::shared_ptr<ProcessState> state);

  std::shared_ptr<ProcessState> state_;
};

}  // namespace falafel::shm
