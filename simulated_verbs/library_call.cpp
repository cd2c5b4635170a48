#include "simulated_verbs/library_call.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "fabric/assert.h"

namespace falafel::simulated_verbs {

namespace {

// The functions of the program have no argument that says which process calls them.
thread_local Thread* running = nullptr;

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

Thread* running_thread() { return running; }

Process* running_process() { return running == nullptr ? nullptr : &running->process(); }

ProgramCode::ProgramCode(Thread& thread) {
  FALAFEL_ASSERT(running == nullptr, "a program starts within another one");
  running = &thread;
}

ProgramCode::~ProgramCode() {
  if (running != nullptr) std::exchange(running, nullptr)->plain_accesses().settle();
}

LibraryCall::LibraryCall(std::string_view function) : thread_(require_running(function)) {
  thread_.plain_accesses().settle();
}

LibraryCall::~LibraryCall() { running = &thread_; }

}  // namespace falafel::simulated_verbs
