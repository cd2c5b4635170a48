// Child processes: fork, wait and kill in one place, for programs and tests that run parts of their
// work in processes of their own.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <string>

namespace falafel::processes {

// The end of a process: its exit status or its signal.
class Ending {
 public:
  explicit Ending(int wait_status) : wait_status_(wait_status) {}

  bool is_success() const;
  std::optional<int> exit_status() const;  // empty: a signal killed it
  std::optional<int> signal() const;       // empty: it exited
  std::string describe() const;            // "exited with status 1", "was killed by signal 9"

 private:
  int wait_status_;
};

struct ChildOptions {
  // Kill the child when the thread that started it ends.
  bool dies_with_parent = false;
};

class ChildProcess {
 public:
  // Starts a process that runs `body` and exits with the status that `body` returns. The calling
  // process must not have other threads. Throws std::system_error if the system refuses.
  explicit ChildProcess(const std::function<int()>& body, ChildOptions options = {});
  // Kills the process if it is still running.
  ~ChildProcess();
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t id() const { return id_; }
  // Does nothing once wait(), wait_for() or poll() has returned how the process ended.
  void send_signal(int signal);
  void kill() { send_signal(SIGKILL); }

  Ending wait();
  // Empty if the process is still running.
  std::optional<Ending> poll();
  std::optional<Ending> wait_for(std::chrono::nanoseconds duration);

 private:
  void end();

  pid_t id_ = 0;  // 0: moved from
  std::optional<Ending> ending_;
};

// Throws std::system_error for errno, after the system call of this name failed.
[[noreturn]] void fail_system_call(const char* name);

}  // namespace falafel::processes
