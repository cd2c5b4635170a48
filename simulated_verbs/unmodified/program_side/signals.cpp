#include "simulated_verbs/unmodified/program_side/signals.h"

#include <dlfcn.h>
#include <ucontext.h>

#include <cerrno>
#include <csignal>

#include "simulated_verbs/unmodified/mailbox.h"
#include "simulated_verbs/unmodified/program_side/connection.h"
#include "simulated_verbs/unmodified/program_side/time_stamps.h"
#include "simulated_verbs/unmodified/program_side/waiting_loop.h"

namespace falafel::simulated_verbs {

namespace {

using SetAction = int (*)(int signal, const struct sigaction* action, struct sigaction* before);
using SetMask = int (*)(int how, const sigset_t* set, sigset_t* before);

constexpr int own_signals[] = {SIGILL, SIGSEGV, SIGTRAP, loop_signal};

// The actions that the program has asked for. Only those of SIGILL and SIGSEGV are used.
struct sigaction actions_of_program[loop_signal + 1];

bool is_own(int signal) {
  for (const int own : own_signals) {
    if (signal == own) return true;
  }
  return false;
}

int set_action(int signal, const struct sigaction* action, struct sigaction* before) {
  static const auto original = reinterpret_cast<SetAction>(dlsym(RTLD_NEXT, "sigaction"));
  return original(signal, action, before);
}

// The instruction is repeated, or the signal sent again, and ends the process.
void end_by(int signal) {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  set_action(signal, &action, nullptr);
}

void handle_loop_signal(int /*signal*/, siginfo_t* /*information*/, void* context) {
  look_for_loop(*static_cast<ucontext_t*>(context));
}

void handle_trap(int signal, siginfo_t* /*information*/, void* context) {
  if (note_trap(*static_cast<ucontext_t*>(context))) return;
  end_by(signal);
  raise(signal);
}

void pass_on(int signal, siginfo_t* information, void* context) {
  const struct sigaction& action = actions_of_program[signal];
  if ((action.sa_flags & SA_SIGINFO) != 0) return action.sa_sigaction(signal, information, context);
  if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) return end_by(signal);
  action.sa_handler(signal);
}

void handle_segmentation_fault(int signal, siginfo_t* information, void* context) {
  if (read_time_stamp(*static_cast<ucontext_t*>(context))) return;
  pass_on(signal, information, context);
}

void handle_undefined_instruction(int signal, siginfo_t* information, void* context) {
  if (read_replaced_time_stamp(*static_cast<ucontext_t*>(context))) return;
  pass_on(signal, information, context);
}

void handle(int signal, void (*handler)(int, siginfo_t*, void*)) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  // A step may itself raise one of the others.
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER;
  set_action(signal, &action, nullptr);
}

int change_mask(const char* function, int how, const sigset_t* set, sigset_t* before) {
  const auto original = reinterpret_cast<SetMask>(dlsym(RTLD_NEXT, function));
  if (set == nullptr || how == SIG_UNBLOCK) return original(how, set, before);
  sigset_t permitted = *set;
  for (const int signal : own_signals) sigdelset(&permitted, signal);
  return original(how, &permitted, before);
}

}  // namespace

void handle_signals() {
  handle(loop_signal, handle_loop_signal);
  handle(SIGTRAP, handle_trap);
  handle(SIGSEGV, handle_segmentation_fault);
  handle(SIGILL, handle_undefined_instruction);
  note_signals_are_handled();
}

}  // namespace falafel::simulated_verbs

using namespace falafel::simulated_verbs;  // NOLINT(google-build-using-namespace)

extern "C" {

FALAFEL_EXPORTED int sigaction(int signal, const struct sigaction* action,
                               struct sigaction* before) {
  if (!is_own(signal)) return set_action(signal, action, before);
  const struct sigaction wanted = actions_of_program[signal];
  if (action != nullptr) actions_of_program[signal] = *action;
  if (before != nullptr) *before = wanted;
  return 0;
}

FALAFEL_EXPORTED sighandler_t signal(int signal, sighandler_t handler) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  struct sigaction before {};
  if (sigaction(signal, &action, &before) != 0) return SIG_ERR;
  return before.sa_handler;
}

FALAFEL_EXPORTED unsigned alarm(unsigned seconds) {
  return static_cast<unsigned>(call_simulator(CallNumber::set_alarm, seconds));
}

FALAFEL_EXPORTED int sigprocmask(int how, const sigset_t* set, sigset_t* before) {
  return change_mask("sigprocmask", how, set, before);
}

FALAFEL_EXPORTED int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) {
  return change_mask("pthread_sigmask", how, set, before);
}

}  // extern "C"
