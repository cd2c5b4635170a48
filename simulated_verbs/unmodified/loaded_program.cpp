#include "simulated_verbs/unmodified/loaded_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "simulated_verbs/unmodified/cheap_switches.h"

namespace falafel::simulated_verbs {

namespace {

// The system puts a program below the addresses that it keeps for the stack, which are as many as
// the stack may have. That is far below everything that this process has itself.
constexpr std::uint64_t first_distance = std::uint64_t{2} << 40U;
constexpr std::uint64_t distance_between_programs = std::uint64_t{64} << 30U;

void require(int error, const char* what) {
  if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

// Not the number that getpid() gives a simulated process.
pid_t own_id() { return static_cast<pid_t>(syscall(SYS_getpid)); }

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

// The output of loading is the beginning of the output of each process.
void write_text(int descriptor, const std::string& text) {
  if (text.empty()) return;
  const ssize_t written = ::write(descriptor, text.data(), text.size());
  require(written < 0 ? errno : 0, "write");
}

}  // namespace

LoadedProgram::LoadedProgram(const Executable& executable, const std::string& libraries,
                             std::uint64_t number)
    : output_("output", 0), owner_(own_id()) {
  spawn(executable, libraries, number);
  control_.close_other_end();
}

LoadedProgram::~LoadedProgram() {
  if (!is_waiting()) return;
  ::kill(id_, SIGKILL);
  while (::waitpid(id_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// The loader takes the library first, so that its functions come before those of the C library.
// The environment is the same everywhere, because a program may behave by it.
void LoadedProgram::spawn(const Executable& executable, const std::string& libraries,
                          std::uint64_t number) {
  std::vector<std::string> words{executable.loader,
                                 "--library-path",
                                 libraries,
                                 "--preload",
                                 libraries + "/libibverbs.so.1",
                                 "--argv0",
                                 executable.words.front(),
                                 executable.path};
  words.insert(words.end(), executable.words.begin() + 1, executable.words.end());
  std::vector<std::string> environment{"LANG=C.UTF-8", "PATH=/usr/bin:/bin"};
  FileActions actions;
  actions.give(output_.descriptor(), STDOUT_FILENO);
  actions.give(output_.descriptor(), STDERR_FILENO);
  actions.give(control_.other_end(), control_descriptor);
  actions.open_empty(STDIN_FILENO);
  actions.close_from(control_descriptor + 1);
  const StackLimit limit(first_distance + number * distance_between_programs);
  const PermittedTimeStamps permitted;
  require(posix_spawn(&id_, executable.loader.c_str(), actions.get(), nullptr,
                      pointers_to(words).data(), pointers_to(environment).data()),
          "posix_spawn");
}

bool LoadedProgram::is_waiting() const { return id_ != 0 && owner_ == own_id(); }

bool LoadedProgram::is_loaded() {
  StartReady ready{};
  if (!is_loaded_) is_loaded_ = control_.receive(ready);
  return is_loaded_;
}

bool LoadedProgram::copy(const StartFiles& files, pid_t& id) {
  StartAnswer answer = 0;
  if (refusal_ || !control_.send(StartRequest::copy, files) || !control_.receive(answer)) {
    return false;
  }
  id = answer;
  if (answer < 0) refusal_ = -answer;
  return answer > 0;
}

pid_t LoadedProgram::start(StartRequest wanted, const StartFiles& files) {
  move_to_this_processor(id_);
  const bool is_there = is_loaded();
  write_text(files[output_file], output_.text());
  pid_t id = 0;
  if (is_there && wanted == StartRequest::copy && copy(files, id)) return id;
  if (is_there) control_.send(StartRequest::itself, files);
  return std::exchange(id_, 0);
}

pid_t LoadedPrograms::start(const Executable& executable, std::uint64_t number,
                            const StartFiles& files) {
  std::unique_ptr<LoadedProgram>& program = programs_[number];
  if (program == nullptr || !program->is_waiting()) {
    program = std::make_unique<LoadedProgram>(executable, libraries_, number);
  }
  const pid_t id = program->start(loads_anew_ ? StartRequest::itself : StartRequest::copy, files);
  if (const auto refusal = program->refusal(); refusal && !loads_anew_) {
    loads_anew_ = true;
    fmt::print(stderr,
               "falafel run: the system does not copy processes ({}), so each run loads its "
               "programs anew, which takes longer\n",
               std::strerror(*refusal));
  }
  return id;
}

}  // namespace falafel::simulated_verbs
