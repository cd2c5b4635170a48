#include "tools/store_benchmark/parties.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "fabric/assert.h"

namespace falafel::store_benchmark {

TemporaryDirectory::TemporaryDirectory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "falafel-XXXXXX").string();
  const char* const made = mkdtemp(pattern.data());
  FALAFEL_ASSERT(made != nullptr, "cannot create the temporary directory {}", pattern);
  path_ = made;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void ChildProcesses::start(std::string name, const std::function<void()>& body) {
  const pid_t parent = getpid();
  const pid_t process = fork();
  FALAFEL_ASSERT(process >= 0, "cannot fork a process for {}", name);
  if (process > 0) {
    children_.push_back({.name = std::move(name), .process = process});
    return;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);  // the parent has already ended
  body();
  _exit(0);
}

std::optional<std::string> ChildProcesses::find_dead() {
  for (auto child = children_.begin(); child != children_.end(); ++child) {
    int status = 0;
    if (waitpid(child->process, &status, WNOHANG) != child->process) continue;
    const std::string name = child->name;
    children_.erase(child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS) return find_dead();
    return WIFSIGNALED(status) ? fmt::format("{} was killed by signal {}", name, WTERMSIG(status))
                               : fmt::format("{} exited with status {}", name, WEXITSTATUS(status));
  }
  return std::nullopt;
}

void ChildProcesses::wait_for_all() {
  for (const Child& child : children_) waitpid(child.process, nullptr, 0);
  children_.clear();
}

ChildProcesses::~ChildProcesses() {
  for (const Child& child : children_) kill(child.process, SIGKILL);
  wait_for_all();
}

}  // namespace falafel::store_benchmark
