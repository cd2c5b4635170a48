#include "tests/conformance/local_hosts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <future>
#include <thread>
#include <utility>

#include "processes/child_process.h"
#include "tests/hang_limit.h"

namespace falafel::conformance {
namespace {

// Longer than any test waits for an event that does not occur.
constexpr std::chrono::seconds patience = hang_limit;

// A directory that is removed at the end.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "falafel.XXXXXX").native();
    const char* const made = ::mkdtemp(name.data());
    FALAFEL_ASSERT(made != nullptr, "no temporary directory {}", name);
    path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

class LocalBackend : public Backend {
 public:
  explicit LocalBackend(const MakeRunHost& make_run_host) : make_run_host_(make_run_host) {}
  void break_connection(const std::string& /*host*/) override {
    FALAFEL_ASSERT(false, "connections within a machine do not break");
  }
  std::string name_of_kept_memory() const override {
    return (directory_.path() / "memory").native();
  }
  virtual void run() = 0;

 protected:
  const MakeRunHost& make_run_host_;
  std::vector<HostOfProgram> hosts_;
  TemporaryDirectory directory_;

 private:
  void add_guarded_host(const HostDescription& description, HostBody body) override {
    hosts_.push_back({description, std::move(body)});
  }
};

// -------------------------------------------------------------------------------------------------
// Hosts as threads

class ThreadsBackend final : public LocalBackend {
 public:
  using LocalBackend::LocalBackend;
  void crash(const std::string& host) override {
    FALAFEL_ASSERT(false, "a thread cannot be killed, so nor can {}", host);
  }

  void run() override {
    const RunHost run_host = make_run_host_(directory_.path());
    std::vector<std::future<void>> running;
    for (const HostOfProgram& host : hosts_) {
      running.push_back(std::async(std::launch::async, [&] { run_host(host); }));
    }
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (std::size_t index = 0; index < hosts_.size(); ++index) {
      FALAFEL_ASSERT(running[index].wait_until(deadline) == std::future_status::ready,
                     "host {} does not come to its end", hosts_[index].description.name);
    }
  }
};

// -------------------------------------------------------------------------------------------------
// Hosts as processes

constexpr std::size_t max_hosts = 16;

// State that all processes of a run share.
struct Roster {
  std::atomic<bool> complete;
  std::array<std::atomic<pid_t>, max_hosts> processes;
  std::array<std::atomic<bool>, max_hosts> killed;
};

class ProcessesBackend final : public LocalBackend {
 public:
  explicit ProcessesBackend(const MakeRunHost& make_run_host)
      : LocalBackend(make_run_host),
        roster_(static_cast<Roster*>(::mmap(nullptr, sizeof(Roster), PROT_READ | PROT_WRITE,
                                            MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~ProcessesBackend() override { ::munmap(roster_, sizeof(Roster)); }
  ProcessesBackend(const ProcessesBackend&) = delete;
  ProcessesBackend& operator=(const ProcessesBackend&) = delete;

  void crash(const std::string& name) override {
    for (std::size_t index = 0; index < hosts_.size(); ++index) {
      if (hosts_[index].description.name != name) continue;
      roster_->killed[index].store(true);
      ::kill(roster_->processes[index].load(), SIGKILL);
    }
  }

  void run() override {
    for (std::size_t index = 0; index < hosts_.size(); ++index) start(index);
    roster_->complete.store(true);
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (std::size_t index = 0; index < hosts_.size(); ++index) await(index, deadline);
  }

 private:
  void start(std::size_t index) {
    children_.emplace_back([this, index] {
      while (!roster_->complete.load()) std::this_thread::yield();
      make_run_host_(directory_.path())(hosts_[index]);
      return testing::Test::HasFailure() ? EXIT_FAILURE : EXIT_SUCCESS;
    });
    roster_->processes[index].store(children_.back().id());
  }

  void await(std::size_t index, std::chrono::steady_clock::time_point deadline) {
    const std::string& name = hosts_[index].description.name;
    const auto ending = children_[index].wait_for(deadline - std::chrono::steady_clock::now());
    if (!ending) {
      ADD_FAILURE() << "host " << name << " does not end";
      return children_[index].kill();
    }
    if (roster_->killed[index].load() && ending->signal()) return;
    EXPECT_TRUE(ending->is_success()) << "host " << name << " " << ending->describe();
  }

  Roster* roster_;
  std::vector<processes::ChildProcess> children_;  // by index of the host
};

// -------------------------------------------------------------------------------------------------

template <typename SomeBackend>
class LocalVariant final : public Variant {
 public:
  LocalVariant(std::string name, const MakeRunHost& make_run_host, const Capabilities& capabilities,
               int runs)
      : name_(std::move(name)),
        make_run_host_(make_run_host),
        capabilities_(capabilities),
        runs_(runs) {}

  std::string name() const override { return name_; }
  Capabilities capabilities() const override { return capabilities_; }
  void run(const Program& program) const override {
    for (int run = 1; run <= runs_; ++run) {
      SCOPED_TRACE(fmt::format("run {} of {}", run, runs_));
      SomeBackend backend(make_run_host_);
      program(backend);
      backend.run();
      if (testing::Test::HasFailure() || testing::Test::IsSkipped()) return;
    }
  }

 private:
  std::string name_;
  MakeRunHost make_run_host_;
  Capabilities capabilities_;
  int runs_;
};

}  // namespace

std::vector<VariantPointer> local_variants(const MakeRunHost& make_run_host,
                                           const Capabilities& capabilities, int runs_with_threads,
                                           int runs_with_processes) {
  Capabilities of_threads = capabilities;
  of_threads.crashes_hosts = false;
  Capabilities of_processes = capabilities;
  of_processes.crashes_hosts = true;
  return {std::make_shared<LocalVariant<ThreadsBackend>>("threads", make_run_host, of_threads,
                                                         runs_with_threads),
          std::make_shared<LocalVariant<ProcessesBackend>>("processes", make_run_host, of_processes,
                                                           runs_with_processes)};
}

}  // namespace falafel::conformance
