#include "simulated_verbs/unmodified/program_process.h"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <csignal>
#include <ctime>

#include "fabric/time_units.h"

namespace falafel::simulated_verbs {

namespace {

// How often to look whether a silent process has ended, or waits in a loop.
constexpr long look_ns = 5'000'000;
constexpr double looks_per_second = 200;
// The processor time after which it is asked for a loop.
constexpr std::uint64_t least_computing_ns = 2'000'000;

// The processor time that the process has taken. Functions of clocks give virtual time here.
std::uint64_t computing_time_ns(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0) return 0;
  if (syscall(SYS_clock_gettime, clock, &time) != 0) return 0;
  return static_cast<std::uint64_t>(time.tv_sec) * fabric::second_ns +
         static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

ProgramProcess::ProgramProcess(LoadedPrograms& programs, const Executable& executable,
                               const ProgramPlace& place)
    : mailbox_("mailbox", sizeof(Mailboxes)),
      data_("data", data_bytes),
      output_("output", 0),
      mapping_(mailbox_.descriptor(), 0, sizeof(Mailboxes), 0) {
  mailboxes().heap_address = place.heap_address;
  mailboxes().heap_bytes = place.heap_bytes;
  std::ranges::copy(place.loops, mailboxes().loops);
  StartFiles files{};
  files[output_file] = output_.descriptor();
  files[mailbox_file] = mailbox_.descriptor();
  files[objects_file] = place.objects;
  files[heap_file] = place.heap;
  files[data_file] = data_.descriptor();
  id_ = programs.start(executable, place.number, files);
}

ProgramProcess::~ProgramProcess() { kill(); }

bool ProgramProcess::has_ended(int options) {
  if (ending_) return true;
  int status = 0;
  pid_t ended = 0;
  do {
    ended = waitpid(id_, &status, options);
  } while (ended < 0 && errno == EINTR);
  if (ended == id_) ending_.emplace(status);
  return ended == id_;
}

ProgramProcess::Event ProgramProcess::wait_for_call(std::size_t thread, double patience_seconds) {
  constexpr timespec look{.tv_sec = 0, .tv_nsec = look_ns};
  const auto most_looks = static_cast<std::uint64_t>(patience_seconds * looks_per_second);
  for (std::uint64_t look_number = 0; look_number < most_looks; ++look_number) {
    if (wait_for_turn(call(thread), Turn::of_simulator, &look)) {
      if (call(thread).call != CallNumber::end_process) return Event::call;
      has_ended(0);
      return Event::end;
    }
    if (has_ended(WNOHANG)) return Event::end;
    watch(thread, look_number);
  }
  return Event::silence;
}

// A search takes long, and the next one is only worth it if the program has gone on to another
// place. What it finds does not depend on when it is made.
void ProgramProcess::watch(std::size_t thread, std::uint64_t look) {
  if (mailboxes().handles_signals == 0) return;
  const std::uint64_t now_ns = computing_time_ns(id_);
  if (look == 0) computed_ns_ = now_ns;
  if (look == 0 || !std::has_single_bit(look) || now_ns - computed_ns_ < least_computing_ns) return;
  syscall(SYS_tgkill, id_, call(thread).thread_id, loop_signal);
}

void ProgramProcess::kill() {
  if (ending_) return;
  ::kill(id_, SIGKILL);
  has_ended(0);
}

}  // namespace falafel::simulated_verbs
