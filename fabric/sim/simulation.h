// One run of a program on a simulated RDMA network.
//
//   FiberStackPool stacks;                       // kept between runs
//   RandomStrategy strategy(seed);
//   Simulation simulation(options, strategy, stacks);
//   simulation.add_host({.name = "server", .role = Role::server}, [](fabric::Host& host) { ... });
//   RunResult result = simulation.run();
//
// The loop: of the actors that can move (fibers that are ready, queue pairs with work in flight,
// connection messages under way) the strategy picks one; it makes one step; the clock moves by
// step_duration_ns. When nobody can move, the clock jumps to the next timer. Everything else is in the
// actors. Single-threaded; nothing outlives the Simulation.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "fabric/fabric.h"
#include "fabric/fiber_stack.h"
#include "fabric/sim/options/options.h"
#include "fabric/sim/strategies/strategy.h"
#include "fabric/sim/trace.h"

namespace falafel::sim {

struct World;

enum class Outcome : std::uint8_t {
  completed,  // all fibers but daemons and those of stopped hosts have returned; the network is quiet
  stuck,      // fibers wait for what can no longer happen
  step_limit,  // the step limit was reached
  stopped,     // stop() was called
  diverged,    // a replay met a question that was not recorded (ReplayStrategy)
};
std::string_view to_string(Outcome outcome);

// Rare branches of the simulator itself.
enum class SimulatorProbe : std::uint8_t {
  completion_before_placement,  // a WRITE completed before all its words were in memory
  read_overtaken_by_write,      // an unfenced WRITE took effect before an earlier READ
  atomic_met_held_word,         // an atomic came while another one was between read and write
  processor_store_lost,         // a store of the processor fell into an atomic's gap
  request_waited_for_fence,
  request_waited_for_outstanding_limit,
  send_waited_for_receive,
  orphan_applied,            // work of a crashed or failed requester took effect afterwards
  orphan_dropped,            // ... or did not
  write_torn_by_failure,     // of a WRITE in doubt, a part landed
  access_revoked_midway,     // a transfer of several packets lost its rights on the way
  fence_waited_for_landing,  // a flush waited for admitted data to land
  datagram_dropped,          // nobody there, or no receive request
  processor_saw_old_word,    // the processor read what a WRITE had changed before
  failure_before_landing,    // a first failure completed while data of the peer was landing
};
inline constexpr std::size_t simulator_probe_count = 15;
std::string_view to_string(SimulatorProbe probe);

struct RunResult {
  Outcome outcome = Outcome::completed;
  std::uint64_t steps = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t trace_hash = 0;
  std::array<std::uint64_t, fault_kind_count> faults{};
  std::array<std::uint64_t, simulator_probe_count> simulator_probes{};
  std::array<std::uint64_t, fabric::max_probes> probes{};
  std::string explanation;  // unless completed: what everybody was doing
};

enum class Role : std::uint8_t { client, server };

struct HostOptions {
  std::string name;
  Role role = Role::client;  // which kinds of faults can strike it
  std::size_t device_count = 1;
  // At the same time; more are out_of_memory, as where the system limits locked memory.
  std::size_t max_registrations = without_limit;
  // DeviceAttributes of each of its devices.
  std::uint32_t max_queue_requests = 16'384;
  std::uint32_t max_completions = 1U << 20U;
  bool destruction_drains = false;

  static constexpr std::size_t without_limit = std::numeric_limits<std::size_t>::max();
};

class Simulation {
 public:
  // `strategy`, `stacks` and `observer` outlive the simulation. Options are checked: a value out of its
  // range is a std::invalid_argument that names it.
  Simulation(const SimulationOptions& options, Strategy& strategy, fabric::FiberStackPool& stacks,
             TraceObserver* observer = nullptr);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // `boot` is the first fiber of the host, and again when it comes back after a crash. Names are unique
  // (std::invalid_argument). Before run().
  fabric::Host& add_host(const HostOptions& options, std::function<void(fabric::Host&)> boot);

  // Once. An exception of a fiber other than FiberCancelled aborts.
  RunResult run();

  // The number of the fiber that runs, as observers know it; none between two of them.
  std::optional<fabric::FiberId> running_fiber() const;

  // How many steps have been made; also from a fiber, where time alone does not tell whether faults are over.
  std::uint64_t steps() const;

  // Ends the run before its next step, as a step limit does: for who has seen enough. From a fiber or an observer.
  void stop();

  // Scripted faults, for scenarios; from a fiber or before run(). The host of the calling fiber may be
  // meant too: the fiber is then cancelled in its next waiting call.
  void crash(std::string_view host);
  void restart(std::string_view host);                           // of a crashed host
  void pause(std::string_view host, std::uint64_t duration_ns);  // never_ns: without end
  bool is_stopped(std::string_view host) const;                  // by a pause without end
  void break_connection(std::string_view host);  // every queue pair of the host goes to error
  // For so long, what the host has sent counts as landing, and the flushes of its peers wait: a device that does
  // not get done, or (shared memory) a process that stands still in the middle of a copy.
  void hold_landing(std::string_view host, std::uint64_t duration_ns);

 private:
  std::unique_ptr<World> world_;
};

}  // namespace falafel::sim
