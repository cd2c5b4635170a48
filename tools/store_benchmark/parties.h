// Runs the programs of a benchmark's parties concurrently, in processes or in threads.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace falafel::store_benchmark {

// A directory that is removed with this object.
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

// Child processes that end no later than this one.
class ChildProcesses {
 public:
  ChildProcesses() = default;
  // Kills processes that are still running.
  ~ChildProcesses();
  ChildProcesses(const ChildProcesses&) = delete;
  ChildProcesses& operator=(const ChildProcesses&) = delete;

  // The process ends when `body` returns. The calling process must not have threads.
  void start(std::string name, const std::function<void()>& body);
  // Returns the name and fate of a process that ended abnormally.
  std::optional<std::string> find_dead();
  void wait_for_all();

 private:
  struct Child {
    std::string name;
    pid_t process;
  };
  std::vector<Child> children_;
};

}  // namespace falafel::store_benchmark
