// The signals are blocked and read from a file descriptor, so that no handler and no global
// variable is needed.
#include "processes/termination_signals.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include "processes/child_process.h"

namespace falafel::processes {

TerminationSignals::TerminationSignals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGINT);
  ::sigaddset(&signals, SIGTERM);
  signals_ = ::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
  if (signals_ < 0) fail_system_call("signalfd");
  ::sigprocmask(SIG_BLOCK, &signals, &mask_before_);
}

TerminationSignals::~TerminationSignals() {
  if (!arrived()) restore();
  ::close(signals_);
}

bool TerminationSignals::arrived() {
  signalfd_siginfo signal{};
  if (!arrived_ && ::read(signals_, &signal, sizeof signal) == sizeof signal) {
    arrived_ = true;
    restore();
  }
  return arrived_;
}

void TerminationSignals::restore() { ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr); }

}  // namespace falafel::processes
