#include "simulated_verbs/process.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "fabric/assert.h"
#include "simulated_verbs/connection_manager/connection_manager.h"
#include "simulated_verbs/program_heap.h"
#include "simulated_verbs/sockets.h"
#include "simulated_verbs/subnet.h"
#include "simulated_verbs/tcp_stack.h"
#include "simulated_verbs/threads.h"
#include "simulated_verbs/verbs_objects.h"

namespace falafel::simulated_verbs {

namespace {

// The functions of the program have no argument that says which process calls them.
thread_local Thread* running = nullptr;

constexpr std::uint64_t least_patience_ns = 1'000;
constexpr std::uint64_t most_patience_ns = 10'000'000;

Thread& require_running(std::string_view function) {
  if (running == nullptr) {
    throw std::logic_error(
        fmt::format("{} was called, but no simulated process runs; call it from a program that "
                    "simulated_verbs::Programs runs",
                    function));
  }
  return *std::exchange(running, nullptr);
}

}  // namespace

Process::Process(Subnet& subnet, fabric::Host& host)
    : subnet_(subnet),
      host_(host),
      lid_(subnet.lid_of(host.name())),
      heap_(subnet.add_heap(lid_)),
      activity_(host.create_event()),
      patience_ns_(least_patience_ns),
      verbs_(std::make_unique<VerbsObjects>(*this)),
      sockets_(std::make_unique<Sockets>(
          std::make_shared<TcpStack>(subnet, host, lid_, activity_))),
      threads_(std::make_unique<Threads>(*this)) {}

Process::~Process() {
  if (connection_manager_ != nullptr) connection_manager_->end();
}

ConnectionManager& Process::connection_manager() {
  if (connection_manager_ == nullptr) {
    connection_manager_ = std::make_shared<ConnectionManager>(*this);
  }
  return *connection_manager_;
}

void Process::wait_for_activity() {
  const bool is_woken = activity_->wait(host_.now_ns() + patience_ns_);
  patience_ns_ = is_woken ? least_patience_ns : std::min(2 * patience_ns_, most_patience_ns);
}

Thread* running_thread() { return running; }

Process* running_process() { return running == nullptr ? nullptr : &running->process(); }

ProgramCode::ProgramCode(Thread& thread) {
  FALAFEL_ASSERT(running == nullptr, "a program starts within another one");
  running = &thread;
}

ProgramCode::~ProgramCode() {
  if (running != nullptr) std::exchange(running, nullptr)->plain_accesses().settle();
}

LibraryCall::LibraryCall(std::string_view function)
    : thread_(require_running(function)), process_(thread_.process()) {
  thread_.plain_accesses().settle();
}

LibraryCall::~LibraryCall() { running = &thread_; }

}  // namespace falafel::simulated_verbs
