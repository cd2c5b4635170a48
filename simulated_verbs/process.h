// The process of one host: an existing program from its start to its end or crash, and all that it
// owns. Its threads are fibers. Objects of a process are used by the fibers of its host only.
#pragma once

#include <memory>

#include "fabric/fabric.h"
#include "simulated_verbs/process_site.h"

namespace falafel::simulated_verbs {

class ConnectionManager;
class Sockets;
class Subnet;
class Threads;
class VerbsObjects;

class Process : public ProcessSite, public std::enable_shared_from_this<Process> {
 public:
  Process(Subnet& subnet, fabric::Host& host);
  // Ends the process as the kernel does: closes its sockets, and destroys its queue pairs and what
  // they use.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  VerbsObjects& verbs() const { return *verbs_; }
  Sockets& sockets() const { return *sockets_; }
  Threads& threads() const { return *threads_; }
  // The kernel's part of rdma_cm. It exists from its first use on.
  ConnectionManager& connection_manager();

 private:
  std::unique_ptr<VerbsObjects> verbs_;
  std::unique_ptr<Sockets> sockets_;
  std::unique_ptr<Threads> threads_;
  std::shared_ptr<ConnectionManager> connection_manager_;
};

}  // namespace falafel::simulated_verbs
