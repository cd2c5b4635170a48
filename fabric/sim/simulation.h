// One run of a program on a simulated RDMA network.
//
//   FiberStackPool stacks;                       // kept between runs
//   RandomStrategy strategy(seed);
//   Simulation simulation(options, strategy, stacks);
//   simulation.add_host({.name = "server", .role = Role::server}, [](fabric::Host& host) { ... });
//   RunResult result = simulation.run();
//
// The actors of a run are its fibers, queue pairs and connection handshakes. The loop repeats: the
// strategy picks an actor that can move, the clock advances by step_duration_ns, and the actor
// makes one step. If no actor can move, the clock jumps to the next timer. A simulation uses one
// thread, and none of its objects outlives it.
//
// A timed run predicts performance instead of looking for failures: each step takes the time that
// the profile of a card says, and the actor whose time comes first is next (docs/performance.md).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/fiber_stack.h"
#include "fabric/sim/options/options.h"
#include "fabric/sim/strategies/strategy.h"
#include "fabric/sim/timing/profile.h"
#include "fabric/sim/touches.h"
#include "fabric/sim/trace.h"

namespace falafel::sim {

struct World;

enum class Outcome : std::uint8_t {
  completed,   // all fibers returned, except daemons and those of stopped hosts
  stuck,       // fibers wait for events that can no longer happen
  step_limit,  // the step limit was reached
  stopped,     // stop() was called
  spinning,    // a fiber makes call after call and never waits, so nothing else can move
  diverged,    // a replay got a question that was not recorded (ReplayStrategy)
};
std::string_view to_string(Outcome outcome);

// Rare branches of the simulator itself.
enum class SimulatorProbe : std::uint8_t {
  completion_before_placement,  // a WRITE completed before all its words were in memory
  read_overtaken_by_write,      // an unfenced WRITE took effect before an earlier READ
  atomic_met_held_word,         // an atomic arrived between the read and the write of another one
  processor_store_lost,         // the processor stored between the read and the write of an atomic
  request_waited_for_fence,
  request_waited_for_outstanding_limit,
  send_waited_for_receive,
  orphan_applied,            // a request took effect after its requester failed
  orphan_dropped,            // a request had no effect, because its requester failed
  write_torn_by_failure,     // only a part of a WRITE in doubt landed
  access_revoked_midway,     // a transfer of several packets lost its rights on the way
  fence_waited_for_landing,  // a flush waited for admitted data to land
  datagram_dropped,          // no such queue pair, or no receive request
  processor_saw_old_word,    // the processor read a word from before a WRITE
  failure_before_landing,    // a first failure completed while data of the peer was landing
  load_passed_store,         // the processor loaded while earlier stores had not reached memory
};
inline constexpr std::size_t simulator_probe_count = 16;
std::string_view to_string(SimulatorProbe probe);

struct RunResult {
  Outcome outcome = Outcome::completed;
  std::uint64_t steps = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t trace_hash = 0;
  std::array<std::uint64_t, fault_kind_count> faults{};
  std::array<std::uint64_t, simulator_probe_count> simulator_probes{};
  std::array<std::uint64_t, fabric::max_probes> probes{};
  std::string explanation;  // unless completed: the state of hosts, fibers, queue pairs
};

// A part of a machine in a timed run, such as "responder" or "thread of client 3".
struct Usage {
  std::string machine;
  std::string part;
  std::uint64_t busy_ns = 0;
};

// A node is a client and a server: faults of either strike it.
enum class Role : std::uint8_t { client, server, node };

struct HostOptions {
  std::string name;
  Role role = Role::client;  // determines which faults can strike the host
  // In a timed run: the machine whose card and processors the host shares with other hosts of that
  // machine. Empty: a machine of its own.
  std::string machine{};
  std::size_t device_count = 1;
  // At the same time. Further ones fail with out_of_memory, as if the system limited locked memory.
  std::size_t max_registrations = without_limit;
  // DeviceAttributes of each of its devices.
  std::uint32_t max_queue_requests = 16'384;
  std::uint32_t max_completions = 1U << 20U;
  std::uint32_t max_scatter_gather_entries = 16;
  std::uint32_t max_shared_receive_queues = 64;
  bool has_masked_atomics = true;
  bool destruction_drains = false;

  static constexpr std::size_t without_limit = std::numeric_limits<std::size_t>::max();
};

class Simulation {
 public:
  // `strategy`, `stacks` and `observer` must outlive the simulation. Throws a std::invalid_argument
  // that names the option if a value is out of range.
  Simulation(const SimulationOptions& options, Strategy& strategy, fabric::FiberStackPool& stacks,
             TraceObserver* observer = nullptr);
  // A timed run: steps take the time that the profile says, and the earliest is next. Throws also
  // if the strategy explores schedules.
  Simulation(const SimulationOptions& options, Strategy& strategy, fabric::FiberStackPool& stacks,
             const timing::Profile& profile, TraceObserver* observer = nullptr);
  // Memory blocks of its hosts may outlive it; after that, only their bytes() may be called.
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // Call before run(). `boot` is the body of the host's first fiber, also after each restart.
  // Throws a std::invalid_argument if a host of that name exists.
  fabric::Host& add_host(const HostOptions& options, std::function<void(fabric::Host&)> boot);

  // Call once. An exception other than FiberCancelled that leaves a fiber aborts the program.
  RunResult run();

  // The number of the running fiber, as observers know it; none while no fiber runs.
  std::optional<fabric::FiberId> running_fiber() const;

  // How long the parts of the machines have been busy so far, in a timed run; otherwise empty.
  std::vector<Usage> usage() const;

  // The number of steps so far. Time alone does not tell a program whether faults are over.
  std::uint64_t steps() const;

  // Ends the run before its next step. Call from a fiber or an observer.
  void stop();

  // Tells an exhaustive exploration that the running fiber accesses an object of the program that
  // fibers of several hosts share, outside of the fabric. The program numbers these objects.
  // Without an exploration, it does nothing.
  void touch(std::uint32_t shared, Access access);

  // Scripted faults, for scenarios. Call from a fiber or before run(). A fiber may name its own
  // host: it is then canceled in its next call that waits.
  void crash(std::string_view host);
  void restart(std::string_view host);                           // after a crash
  void pause(std::string_view host, std::uint64_t duration_ns);  // never_ns: forever
  bool is_stopped(std::string_view host) const;                  // by a pause without end
  void break_connection(std::string_view host);  // every queue pair of the host goes to error
  // For this time, requests of the host count as landing, and the flushes of its peers wait. This
  // models a device that does not finish, or a process that is stopped in the middle of a copy.
  // never_ns: forever. A new time replaces the previous one.
  void hold_landing(std::string_view host, std::uint64_t duration_ns);
  // Sets the wall clock of the host, which is then off by the error.
  void set_wall_clock(std::string_view host, std::int64_t error_ns);

 private:
  std::unique_ptr<World> world_;
};

}  // namespace falafel::sim
