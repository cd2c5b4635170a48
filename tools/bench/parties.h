// The programs of a benchmark's parties, carried out beside each other by processes or by threads.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace falafel::bench {

// A folder that is gone with this object.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Processes forked off this one, which end with it at the latest.
class ChildProcesses {
 public:
  ChildProcesses() = default;
  // Those that are still there are killed.
  ~ChildProcesses();
  ChildProcesses(const ChildProcesses&) = delete;
  ChildProcesses& operator=(const ChildProcesses&) = delete;

  // The process is over when `body` returns. This process has no threads.
  void start(std::string name, const std::function<void()>& body);
  // Of one that has ended badly: which, and how.
  std::optional<std::string> find_dead();
  void wait_for_all();

 private:
  struct Child {
    std::string name;
    pid_t process;
  };
  std::vector<Child> children_;
};

}  // namespace falafel::bench
