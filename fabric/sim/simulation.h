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

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/fiber_stack.h"
#include "fabric/sim/host_options.h"
#include "fabric/sim/options/options.h"
#include "fabric/sim/run_result.h"
#include "fabric/sim/strategies/strategy.h"
#include "fabric/sim/timing/profile.h"
#include "fabric/sim/touches.h"
#include "fabric/sim/trace.h"

namespace falafel::sim {

class ChosenFaults;
struct World;

// A part of a machine in a timed run, such as "responder" or "thread of client 3".
struct Usage {
  std::string machine;
  std::string part;
  std::uint64_t busy_ns = 0;
  // Zero unless the part is a thread of a machine whose threads share its processors.
  std::uint64_t context_switches = 0;
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

  // The queue pair that this one is connected to, by the numbers that observers know; none before
  // the server has accepted the connection.
  std::optional<std::uint32_t> peer_of(std::uint32_t queue_pair) const;

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
  std::unique_ptr<ChosenFaults> chosen_faults_;  // null without the option max_chosen_faults
};

}  // namespace falafel::sim
