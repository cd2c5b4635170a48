// Real RDMA as a backend of the conformance suite. Hosts are processes of one machine, each with
// its own address on the network interface of device rxe0, which tests/vm prepares. The machine
// determines the schedules, so runs are repeated.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "fabric/verbs/host.h"
#include "processes/child_process.h"
#include "tests/conformance/harness.h"
#include "tests/hang_limit.h"

namespace falafel::conformance {
namespace {

using std::chrono::steady_clock;

constexpr const char* device_name = "rxe0";
constexpr std::size_t max_hosts = 16;
// Longer than any test waits for an event that does not occur.
constexpr std::chrono::seconds patience = hang_limit;

struct HostOfProgram {
  HostDescription description;
  HostBody body;
};

// State that all processes of a run share.
struct Roster {
  std::atomic<bool> complete;
  std::array<std::atomic<pid_t>, max_hosts> processes;
  std::array<std::atomic<bool>, max_hosts> killed;
};

// A host's address exists only while the host lives. A crashed host therefore does not respond, in
// contrast to a living one without a listener.
void set_address(const std::string& host, bool present) {
  const std::string command = fmt::format(
      "ip address {} $(awk '$2 == \"{}\" {{ print $1 }}' /etc/hosts)/32 dev dummy0 2>/dev/null",
      present ? "add" : "del", host);
  // Adding an address fails if it is already present.
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): of this machine alone
  FALAFEL_ASSERT(status == 0 || present, "'{}' failed", command);
}

// Waits until the system has reclaimed the process's resources, including its queue pairs.
void await_end(pid_t process) {
  const int handle = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
  if (handle < 0) return;  // the process has already ended
  pollfd ended{.fd = handle, .events = POLLIN, .revents = 0};
  ::poll(&ended, 1, -1);
  ::close(handle);
}

void run_host(const HostOfProgram& host, std::uint64_t spin_ns) {
  const verbs::HostOptions options{
      .name = host.description.name,
      .devices = std::vector<verbs::DeviceOptions>(
          host.description.device_count, {.name = device_name, .port = 0, .gid_index = {}}),
      .spin_ns = spin_ns,
      .numa_node = {},
      .report_failure = {}};
  auto made = verbs::Host::create(options);
  FALAFEL_ASSERT(made.has_value(), "{}", made.error().detail);
  (*made)->run_program([&] { host.body(**made); });
}

class VerbsBackend final : public Backend {
 public:
  explicit VerbsBackend(std::uint64_t spin_ns)
      : spin_ns_(spin_ns),
        roster_(static_cast<Roster*>(::mmap(nullptr, sizeof(Roster), PROT_READ | PROT_WRITE,
                                            MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~VerbsBackend() override { ::munmap(roster_, sizeof(Roster)); }
  VerbsBackend(const VerbsBackend&) = delete;
  VerbsBackend& operator=(const VerbsBackend&) = delete;

  void crash(const std::string& name) override {
    for (std::size_t index = 0; index < hosts_.size(); ++index) {
      if (hosts_[index].description.name != name) continue;
      const pid_t process = roster_->processes[index].load();
      roster_->killed[index].store(true);
      if (process != ::getpid()) set_address(name, false);
      ::kill(process, SIGKILL);
      await_end(process);
    }
  }
  void break_connection(const std::string& /*host*/) override {
    FALAFEL_ASSERT(false, "one process cannot break another one's connections");
  }

  void run() {
    for (std::size_t index = 0; index < hosts_.size(); ++index) start(index);
    roster_->complete.store(true);
    const auto deadline = steady_clock::now() + patience;
    for (std::size_t index = 0; index < hosts_.size(); ++index) await(index, deadline);
  }

 private:
  void add_guarded_host(const HostDescription& description, HostBody body) override {
    hosts_.push_back({description, std::move(body)});
  }

  void start(std::size_t index) {
    children_.emplace_back([this, index] {
      while (!roster_->complete.load()) std::this_thread::yield();
      run_host(hosts_[index], spin_ns_);
      return testing::Test::HasFailure() ? EXIT_FAILURE : EXIT_SUCCESS;
    });
    roster_->processes[index].store(children_.back().id());
  }

  void await(std::size_t index, steady_clock::time_point deadline) {
    const std::string& name = hosts_[index].description.name;
    const auto ending = children_[index].wait_for(deadline - steady_clock::now());
    if (!ending) {
      ADD_FAILURE() << "host " << name << " does not end";
      return children_[index].kill();
    }
    if (roster_->killed[index].load()) {
      set_address(name, true);
      if (ending->signal()) return;
    }
    EXPECT_TRUE(ending->is_success()) << "host " << name << " " << ending->describe();
  }

  std::uint64_t spin_ns_;
  Roster* roster_;
  std::vector<processes::ChildProcess> children_;  // by index of the host
  std::vector<HostOfProgram> hosts_;
};

class VerbsVariant final : public Variant {
 public:
  VerbsVariant(std::string name, std::uint64_t spin_ns, int runs)
      : name_(std::move(name)), spin_ns_(spin_ns), runs_(runs) {}

  std::string name() const override { return name_; }
  // docs/verbs.md explains what Soft-RoCE of Linux 6.1 does not support.
  Capabilities capabilities() const override {
    return {.crashes_hosts = true,
            .inlines_data = true,
            .unreliable_connection = true,
            .unreliable_datagram = true,
            .shared_receive_queues = true,
            .changes_access = false,
            .whole_words_anywhere = false};
  }
  void run(const Program& program) const override {
    for (int run = 1; run <= runs_; ++run) {
      SCOPED_TRACE(fmt::format("run {} of {}", run, runs_));
      VerbsBackend backend(spin_ns_);
      program(backend);
      backend.run();
      if (testing::Test::HasFailure() || testing::Test::IsSkipped()) return;
    }
  }

 private:
  std::string name_;
  std::uint64_t spin_ns_;
  int runs_;
};

}  // namespace

std::vector<VariantPointer> backend_variants() {
  return {std::make_shared<VerbsVariant>("asleep", verbs::never_spin_ns, 1),
          std::make_shared<VerbsVariant>("polling", 200'000, 1)};
}

}  // namespace falafel::conformance
