#include "tools/benchmarks/store/parties.h"

#include <fmt/format.h>
#include <unistd.h>

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
  const auto run = [&] {
    body();
    return 0;
  };
  children_.push_back({.name = std::move(name),
                       .process = processes::ChildProcess(run, {.dies_with_parent = true})});
}

void ChildProcesses::kill(const std::string& name) {
  std::erase_if(children_, [&](Child& child) {
    if (child.name != name) return false;
    child.process.kill();
    child.process.wait();
    return true;
  });
}

std::optional<std::string> ChildProcesses::find_dead() {
  for (auto child = children_.begin(); child != children_.end(); ++child) {
    const std::optional<processes::Ending> ending = child->process.poll();
    if (!ending) continue;
    const std::string name = child->name;
    children_.erase(child);
    if (ending->is_success()) return find_dead();
    return fmt::format("{} {}", name, ending->describe());
  }
  return std::nullopt;
}

void ChildProcesses::wait_for_all() {
  for (Child& child : children_) child.process.wait();
  children_.clear();
}

}  // namespace falafel::store_benchmark
