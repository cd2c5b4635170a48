// Runs the programs of a benchmark's parties concurrently, in processes or in threads.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "processes/child_process.h"

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

// Named child processes that end no later than this one and no later than this object.
class ChildProcesses {
 public:
  // The process ends when `body` returns. The calling process must not have threads.
  void start(std::string name, const std::function<void()>& body);
  // SIGKILL. Forgets the process of this name.
  void kill(const std::string& name);
  // Returns the name and fate of a process that ended abnormally.
  std::optional<std::string> find_dead();
  void wait_for_all();

 private:
  struct Child {
    std::string name;
    processes::ChildProcess process;
  };
  std::vector<Child> children_;
};

}  // namespace falafel::store_benchmark
