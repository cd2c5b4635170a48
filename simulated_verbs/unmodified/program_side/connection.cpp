#include "simulated_verbs/unmodified/program_side/connection.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "simulated_verbs/unmodified/mailbox.h"
#include "simulated_verbs/unmodified/program_side/awaited_start.h"

#define FALAFEL_DECLARE(name, ...) extern "C" void name();
FALAFEL_OPERATION_CALLS(FALAFEL_DECLARE)
FALAFEL_QUEUE_CALLS(FALAFEL_DECLARE)
FALAFEL_BATCH_CALLS(FALAFEL_DECLARE)
#undef FALAFEL_DECLARE

namespace falafel::simulated_verbs {

namespace {

// As a shell's for a command that cannot be executed.
constexpr int status_of_refusal = 126;

// Functions of the C library have no argument that leads to these.
Mailboxes* mailboxes = nullptr;
int variables = -1;
// Static, so that the first use in a thread allocates nothing.
__attribute__((tls_model("initial-exec"))) thread_local Mailbox* mailbox = nullptr;
__attribute__((tls_model("initial-exec"))) thread_local bool is_over = false;
__attribute__((tls_model("initial-exec"))) thread_local bool is_calling = false;
__attribute__((tls_model("initial-exec"))) thread_local Word calls = 0;

void say(const char* text) {
  // There is nobody to tell that this failed.
  [[maybe_unused]] const long written = syscall(SYS_write, STDERR_FILENO, text, std::strlen(text));
}

[[noreturn]] void end_with(const char* before, const char* name, const char* after) {
  say(before);
  say(name);
  say(after);
  syscall(SYS_exit_group, status_of_refusal);
  __builtin_unreachable();
}

void* map(int descriptor, std::uint64_t address, std::size_t bytes) {
  // An address and not an object: the system maps the file there.
  void* const wanted = reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
  void* const mapped = mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, descriptor, 0);
  if (mapped == MAP_FAILED) {
    end_with("falafel: the memory of the simulator cannot be mapped (", std::strerror(errno),
             "); start the program by falafel run\n");
  }
  syscall(SYS_close, descriptor);
  return mapped;
}

void note_operations() {
  std::size_t index = 0;
#define FALAFEL_NOTE(name, ...)                                                                    \
  mailboxes->operations[index++] = reinterpret_cast<std::uint64_t>(&::name);
  FALAFEL_OPERATION_CALLS(FALAFEL_NOTE)
  FALAFEL_QUEUE_CALLS(FALAFEL_NOTE)
  FALAFEL_BATCH_CALLS(FALAFEL_NOTE)
#undef FALAFEL_NOTE
}

void map_mailboxes() {
  const int error_before = errno;
  StartFiles files{};
  if (!await_start(files)) {
    end_with("falafel: ", "there is no simulator", "; start the program by falafel run\n");
  }
  auto* const mapped =
      static_cast<Mailboxes*>(map(files[mailbox_file], mailbox_address, sizeof(Mailboxes)));
  map(files[objects_file], objects_address, objects_bytes);
  map(files[heap_file], mapped->heap_address, mapped->heap_bytes);
  variables = files[data_file];
  mailboxes = mapped;
  mailbox = &mailboxes->of_threads[number_of_main];
  mailbox->thread_id = static_cast<std::int32_t>(syscall(SYS_gettid));
  note_operations();
  errno = error_before;
}

// Its handler may make calls.
void take_signal() {
  const int signal = mailbox->signal;
  if (signal == 0) return;
  mailbox->signal = 0;
  syscall(SYS_tgkill, syscall(SYS_getpid), mailbox->thread_id, signal);
}

void announce(CallNumber end) {
  mailbox->call = end;
  give_turn(*mailbox, Turn::of_simulator);
}

}  // namespace

// Other threads begin by begin_thread().
void connect() {
  if (mailbox == nullptr) map_mailboxes();
}

int file_of_variables() { return variables; }

Word call_simulator(CallNumber call, Word first, Word second, Word third, Word fourth, Word fifth,
                    Word sixth) {
  connect();
  // The C library may still free something of its own.
  if (is_over) return 0;
  is_calling = true;
  ++calls;
  const Word arguments[most_arguments] = {first, second, third, fourth, fifth, sixth};
  for (std::size_t index = 0; index < most_arguments; ++index) {
    mailbox->arguments[index] = arguments[index];
  }
  mailbox->call = call;
  mailbox->error = errno;
  give_turn(*mailbox, Turn::of_simulator);
  while (!wait_for_turn(*mailbox, Turn::of_program, nullptr)) {
  }
  const Word result = mailbox->result;
  errno = mailbox->error;
  is_calling = false;
  take_signal();
  return result;
}

void begin_thread(Word number) {
  mailbox = &mailboxes->of_threads[number];
  mailbox->thread_id = static_cast<std::int32_t>(syscall(SYS_gettid));
  call_simulator(CallNumber::begin_thread);
}

void end_thread() {
  announce(CallNumber::end_thread);
  is_over = true;
}

bool take_reading(bool of_wall_clock, Word& time_ns) {
  if (mailbox == nullptr || mailbox->readings.taken == mailbox->readings.granted) return false;
  GrantedReadings& readings = mailbox->readings;
  ++readings.taken;
  time_ns = (of_wall_clock ? readings.wall_clock_ns : readings.now_ns) +
            readings.taken * readings.step_ns;
  return true;
}

bool is_within_call() { return is_calling; }
Word calls_of_thread() { return calls; }
void note_signals_are_handled() { mailboxes->handles_signals = 1; }
WaitingLoop* known_loops() { return mailboxes->loops; }

long system_call(long number, Word first, Word second, Word third, Word fourth, Word fifth,
                 Word sixth) {
  return syscall(number, first, second, third, fourth, fifth, sixth);
}

void announce_end() {
  if (mailbox != nullptr) announce(CallNumber::end_process);
}

void refuse(const char* function) {
  end_with("falafel: ", function, " is not simulated for programs that run unmodified\n");
}

}  // namespace falafel::simulated_verbs
