#include "simulated_verbs/unmodified/program_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <system_error>
#include <vector>

#include "fabric/time_units.h"
#include "simulated_verbs/unmodified/cheap_switches.h"

namespace falafel::simulated_verbs {

namespace {

// How often to look whether a silent process has ended, or waits in a loop.
constexpr long look_ns = 5'000'000;
constexpr double looks_per_second = 200;
// The processor time after which it is asked for a loop.
constexpr std::uint64_t least_computing_ns = 2'000'000;

// The system puts a program below the addresses that it keeps for the stack, which are as many as
// the stack may have. That is far below everything that this process has itself.
constexpr std::uint64_t first_distance = std::uint64_t{2} << 40U;
constexpr std::uint64_t distance_between_programs = std::uint64_t{64} << 30U;

void require(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

// The processor time that the process has taken. Functions of clocks give virtual time here.
std::uint64_t computing_time_ns(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0) return 0;
  if (syscall(SYS_clock_gettime, clock, &time) != 0) return 0;
  return static_cast<std::uint64_t>(time.tv_sec) * fabric::second_ns +
         static_cast<std::uint64_t>(time.tv_nsec);
}

class StackLimit {
 public:
  explicit StackLimit(std::uint64_t bytes) {
    getrlimit(RLIMIT_STACK, &before_);
    rlimit changed = before_;
    changed.rlim_cur = bytes;
    changed.rlim_max = std::max<rlim_t>(before_.rlim_max, bytes);  // root may raise it
    require(setrlimit(RLIMIT_STACK, &changed) == 0 ? 0 : errno,
            "setrlimit(RLIMIT_STACK): the hard limit must be unlimited (ulimit -H -s)");
  }
  ~StackLimit() { setrlimit(RLIMIT_STACK, &before_); }
  StackLimit(const StackLimit&) = delete;
  StackLimit& operator=(const StackLimit&) = delete;

 private:
  rlimit before_{};
};

// The descriptors that the process starts with.
class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  ~FileActions() {
    posix_spawn_file_actions_destroy(&actions_);
    for (const int copy : copies_) ::close(copy);
  }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  void open_empty(int as) {
    posix_spawn_file_actions_addopen(&actions_, as, "/dev/null", O_RDONLY, 0);
  }
  // The copy is out of the way of all numbers that the process has.
  void give(int descriptor, int as) {
    constexpr int out_of_the_way = 100;
    const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, out_of_the_way);
    require(copy < 0 ? errno : 0, "fcntl(F_DUPFD_CLOEXEC)");
    copies_.push_back(copy);
    posix_spawn_file_actions_adddup2(&actions_, copy, as);
  }
  void close_from(int first) { posix_spawn_file_actions_addclosefrom_np(&actions_, first); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
  std::vector<int> copies_;
};

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

ProgramProcess::ProgramProcess(const Executable& executable, const ProgramPlace& place)
    : mailbox_("mailbox", sizeof(Mailboxes)),
      data_("data", data_bytes),
      output_("output", 0),
      mapping_(mailbox_.descriptor(), 0, sizeof(Mailboxes), 0) {
  mailboxes().heap_address = place.heap_address;
  mailboxes().heap_bytes = place.heap_bytes;
  std::ranges::copy(place.loops, mailboxes().loops);
  start(executable, place);
}

ProgramProcess::~ProgramProcess() { kill(); }

// The loader takes the library first, so that its functions come before those of the C library.
// The environment is the same everywhere, because a program may behave by it.
void ProgramProcess::start(const Executable& executable, const ProgramPlace& place) {
  std::vector<std::string> words{executable.loader,
                                 "--library-path",
                                 place.libraries,
                                 "--preload",
                                 place.libraries + "/libibverbs.so.1",
                                 "--argv0",
                                 executable.words.front(),
                                 executable.path};
  words.insert(words.end(), executable.words.begin() + 1, executable.words.end());
  std::vector<std::string> environment{"LANG=C.UTF-8", "PATH=/usr/bin:/bin"};
  FileActions actions;
  actions.give(output_.descriptor(), STDOUT_FILENO);
  actions.give(output_.descriptor(), STDERR_FILENO);
  actions.give(mailbox_.descriptor(), mailbox_descriptor);
  actions.give(place.objects, objects_descriptor);
  actions.give(place.heap, heap_descriptor);
  actions.give(data_.descriptor(), data_descriptor);
  actions.open_empty(STDIN_FILENO);
  actions.close_from(data_descriptor + 1);
  const StackLimit limit(first_distance + place.number * distance_between_programs);
  const PermittedTimeStamps permitted;
  require(posix_spawn(&id_, executable.loader.c_str(), actions.get(), nullptr,
                      pointers_to(words).data(), pointers_to(environment).data()),
          "posix_spawn");
}

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

// The file's position is the process's own, so this reads without one.
std::string ProgramProcess::output() const {
  std::string text;
  std::array<char, 4096> part{};
  while (true) {
    const ssize_t bytes =
        ::pread(output_.descriptor(), part.data(), part.size(), static_cast<off_t>(text.size()));
    if (bytes <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(bytes));
  }
}

}  // namespace falafel::simulated_verbs
