#include "processes/child_process.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>

#include "fabric/assert.h"

namespace falafel::processes {
namespace {

pid_t wait_for_process(pid_t process, int& status, int flags) {
  pid_t result = 0;
  do {
    result = ::waitpid(process, &status, flags);
  } while (result < 0 && errno == EINTR);
  if (result < 0) fail_system_call("waitpid");
  return result;
}

// noexcept: an exception must not carry the child into the code of its parent.
[[noreturn]] void run_child(const std::function<int()>& body) noexcept {
  const int status = body();
  std::fflush(nullptr);
  ::_exit(status);
}

}  // namespace

void fail_system_call(const char* name) {
  throw std::system_error(errno, std::generic_category(), name);
}

bool Ending::is_success() const {
  return WIFEXITED(wait_status_) && WEXITSTATUS(wait_status_) == EXIT_SUCCESS;
}

std::optional<int> Ending::exit_status() const {
  if (!WIFEXITED(wait_status_)) return std::nullopt;
  return WEXITSTATUS(wait_status_);
}

std::optional<int> Ending::signal() const {
  if (!WIFSIGNALED(wait_status_)) return std::nullopt;
  return WTERMSIG(wait_status_);
}

std::string Ending::describe() const {
  if (const auto killer = signal()) return fmt::format("was killed by signal {}", *killer);
  return fmt::format("exited with status {}", WEXITSTATUS(wait_status_));
}

ChildProcess::ChildProcess(const std::function<int()>& body, ChildOptions options) {
  std::fflush(nullptr);  // or the child would print the buffered output again
  const pid_t parent = ::getpid();
  id_ = ::fork();
  if (id_ < 0) fail_system_call("fork");
  if (id_ > 0) return;
  if (options.dies_with_parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(EXIT_FAILURE);  // the parent has already ended
  }
  run_child(body);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : id_(std::exchange(other.id_, 0)), ending_(other.ending_) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this != &other) {
    end();
    id_ = std::exchange(other.id_, 0);
    ending_ = other.ending_;
  }
  return *this;
}

ChildProcess::~ChildProcess() { end(); }

void ChildProcess::end() {
  if (id_ == 0 || ending_) return;
  kill();
  wait();
}

// A process that was waited for may have left its number to another one.
void ChildProcess::send_signal(int signal) {
  FALAFEL_ASSERT(id_ > 0, "signal {} for process {}", signal, id_);
  if (!ending_) ::kill(id_, signal);
}

Ending ChildProcess::wait() {
  FALAFEL_ASSERT(id_ > 0, "there is no process {} to wait for", id_);
  if (!ending_) {
    int status = 0;
    wait_for_process(id_, status, 0);
    ending_ = Ending(status);
  }
  return *ending_;
}

std::optional<Ending> ChildProcess::poll() {
  FALAFEL_ASSERT(id_ > 0, "there is no process {} to wait for", id_);
  int status = 0;
  if (!ending_ && wait_for_process(id_, status, WNOHANG) == id_) ending_ = Ending(status);
  return ending_;
}

std::optional<Ending> ChildProcess::wait_for(std::chrono::nanoseconds duration) {
  constexpr std::chrono::microseconds interval{200};
  const auto deadline = std::chrono::steady_clock::now() + duration;
  while (!poll() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(interval);
  }
  return poll();
}

}  // namespace falafel::processes
