// Ends long work in order when the user or a batch system asks for it.
#pragma once

#include <csignal>

namespace falafel::processes {

// While it exists, SIGINT and SIGTERM do not end this process or the processes that it forks.
// Instead, arrived() says so. After the first of these signals, a second one ends the process, as
// usual, for users who do not want to wait. Use one at a time, in a process of one thread.
class TerminationSignals {
 public:
  // Throws std::system_error if the system refuses.
  TerminationSignals();
  ~TerminationSignals();
  TerminationSignals(const TerminationSignals&) = delete;
  TerminationSignals& operator=(const TerminationSignals&) = delete;

  // Returns whether one of the signals has arrived since the construction.
  bool arrived();

 private:
  void restore();

  sigset_t mask_before_{};
  int signals_ = -1;
  bool arrived_ = false;
};

}  // namespace falafel::processes
