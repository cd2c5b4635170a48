// The fabric over shared memory: hosts are threads or processes of one machine, and who posts a request
// carries it out with its own processor (fabric/fabric.h has the contract, docs/shm.md the method).
//
//   auto process = shm::Process::create({.directory = "/run/user/1000/falafel"}).value();
//   auto host = process->create_host("server");
//   host->run_program([&] { ... });
//
// What this fabric is: RC alone; atomics are the processor's (AtomicCapability::global); MTU 4096.
//
// Trust: the peers of a connection map each other's memory whole. Rights are checked by the requester, so
// they keep out errors, not malice: who may open the socket of a host is trusted (directory permissions).
//
// Fencing: after QueuePair::move_to_error no request of the peer begins. One that it is just carrying out
// must end first, so flushes come when the peer has confirmed that (by a flag in shared memory) or its
// process is gone (pidfd). A peer that is stopped by a signal in the middle of a request delays the flush
// until it goes on or is killed; QueuePair::close, too, waits for that before memory is unmapped.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "fabric/fabric.h"
#include "fabric/realtime/host.h"

namespace falafel::shm {

struct ProcessOptions {
  // Where listening hosts leave their sockets: `<directory>/<host>/<service>`. It is created if absent,
  // for this user alone.
  std::filesystem::path directory;
  // All memory of this process's hosts together, at most. Address space only, until it is used.
  std::uint64_t memory_limit_bytes = std::uint64_t{1} << 36U;
  // Pages of 2 MiB, that the system must have set aside (vm.nr_hugepages).
  bool huge_pages = false;
  // How long a host looks for work in vain before it sleeps.
  std::uint64_t spin_ns = 20'000;
};

class ProcessState;

// What a process shares with others: its memory, and the thread that makes its connections. Thread-safe.
class Process {
 public:
  // Errors: invalid_argument (directory), out_of_memory.
  static fabric::Result<std::unique_ptr<Process>> create(const ProcessOptions& options);
  // All hosts must be gone.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // A host with devices that are all alike. Its name is that of a folder: letters, digits, `-`, `_` and
  // `.`, up to 64, else invalid_argument. Several hosts may have one name, but only one of them may listen
  // to a service under it.
  fabric::Result<std::unique_ptr<fabric::RealTimeHost>> create_host(const std::string& name,
                                                                    std::size_t device_count = 1);

 private:
  explicit Process(std::shared_ptr<ProcessState> core);

  std::shared_ptr<ProcessState> core_;
};

}  // namespace falafel::shm
