// Shared memory as a backend of the conformance suite. Hosts are threads of this process, or
// processes, which can be killed. The machine determines the schedules, so runs are repeated.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <future>
#include <thread>
#include <vector>

#include "fabric/shm/process.h"
#include "processes/child_process.h"
#include "tests/conformance/harness.h"

namespace falafel::conformance {
namespace {

constexpr std::uint64_t memory_limit_bytes = std::uint64_t{1} << 28U;
// Longer than any test waits for an event that does not occur.
constexpr std::chrono::seconds patience{120};

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

struct HostOfProgram {
  HostDescription description;
  HostBody body;
};

void run_host(const HostOfProgram& host, shm::Process& process) {
  auto made = process.create_host(host.description.name, host.description.device_count);
  FALAFEL_ASSERT(made.has_value(), "{}", made.error().detail);
  (*made)->run_program([&] { host.body(**made); });
}

std::unique_ptr<shm::Process> make_process(const std::filesystem::path& directory) {
  auto process =
      shm::Process::create({.directory = directory, .memory_limit_bytes = memory_limit_bytes});
  FALAFEL_ASSERT(process.has_value(), "{}", process.error().detail);
  return std::move(*process);
}

class ShmBackend : public Backend {
 public:
  void break_connection(const std::string& /*host*/) override {
    FALAFEL_ASSERT(false, "connections through memory do not break");
  }
  virtual void run() = 0;

 protected:
  std::vector<HostOfProgram> hosts_;
  TemporaryDirectory directory_;

 private:
  void add_guarded_host(const HostDescription& description, HostBody body) override {
    hosts_.push_back({description, std::move(body)});
  }
};

// -------------------------------------------------------------------------------------------------
// Hosts as threads

class ThreadsBackend final : public ShmBackend {
 public:
  void crash(const std::string& host) override {
    FALAFEL_ASSERT(false, "a thread cannot be killed, so nor can {}", host);
  }

  void run() override {
    const auto process = make_process(directory_.path());
    std::vector<std::future<void>> running;
    for (const HostOfProgram& host : hosts_) {
      running.push_back(std::async(std::launch::async, [&] { run_host(host, *process); }));
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

class ProcessesBackend final : public ShmBackend {
 public:
  ProcessesBackend()
      : roster_(static_cast<Roster*>(::mmap(nullptr, sizeof(Roster), PROT_READ | PROT_WRITE,
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
      run_host(hosts_[index], *make_process(directory_.path()));
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
class ShmVariant final : public Variant {
 public:
  ShmVariant(std::string name, int runs, bool crashes_hosts)
      : name_(std::move(name)), runs_(runs), crashes_hosts_(crashes_hosts) {}

  std::string name() const override { return name_; }
  Capabilities capabilities() const override {
    return {.crashes_hosts = crashes_hosts_,
            .notices_death = true,
            .inlines_data = true,
            .masked_atomics = true,
            .places_in_address_order = true};
  }
  void run(const Program& program) const override {
    for (int run = 1; run <= runs_; ++run) {
      SCOPED_TRACE(fmt::format("run {} of {}", run, runs_));
      SomeBackend backend;
      program(backend);
      backend.run();
      if (testing::Test::HasFailure() || testing::Test::IsSkipped()) return;
    }
  }

 private:
  std::string name_;
  int runs_;
  bool crashes_hosts_;
};

}  // namespace

std::vector<VariantPointer> backend_variants() {
  return {std::make_shared<ShmVariant<ThreadsBackend>>("threads", FALAFEL_RUNS_WITH_THREADS, false),
          std::make_shared<ShmVariant<ProcessesBackend>>("processes", FALAFEL_RUNS_WITH_PROCESSES,
                                                         true)};
}

}  // namespace falafel::conformance
