#include "simulated_verbs/process.h"

#include "simulated_verbs/connection_manager/connection_manager.h"
#include "simulated_verbs/sockets.h"
#include "simulated_verbs/tcp_stack.h"
#include "simulated_verbs/threads.h"
#include "simulated_verbs/verbs_objects.h"

namespace falafel::simulated_verbs {

Process::Process(Subnet& subnet, fabric::Host& host)
    : ProcessSite(subnet, host),
      verbs_(std::make_unique<VerbsObjects>(*this)),
      sockets_(
          std::make_unique<Sockets>(std::make_shared<TcpStack>(subnet, host, lid(), activity()))),
      threads_(std::make_unique<Threads>(*this)) {}

Process::~Process() {
  if (connection_manager_ != nullptr) connection_manager_->end();
}

ConnectionManager& Process::connection_manager() {
  if (connection_manager_ == nullptr) {
    connection_manager_ = std::make_shared<ConnectionManager>(*this, *verbs_, *sockets_);
  }
  return *connection_manager_;
}

}  // namespace falafel::simulated_verbs
