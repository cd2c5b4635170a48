// The configuration of a simulated run. A run is a function of the program, these options and the
// choices. One table (option_descriptions) gives every option its name, range and meaning; replay
// files, their checks and docs/replay-file.md are derived from it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/region_ordering.h"

namespace falafel::sim {

// How the next actor is picked. docs/simulator.md describes the strategies.
enum class StrategyKind : std::uint8_t { random, pct, pos, urw };
inline constexpr std::size_t strategy_kind_count = 4;
std::string_view to_string(StrategyKind kind);

// The unit that a transfer never tears. `word` is the contract. `byte` is weaker than the contract:
// a host that copies with plain memcpy. `line` is a device that accesses aligned lines of 64 bytes
// as a whole, and `packet` one that places packets at once.
enum class Granularity : std::uint8_t { byte, word, line, packet };

// The uses of memory that the device of a program for libibverbs pages instead of pinning it.
enum class OnDemandPaging : std::uint8_t { none, without_atomics, all };

// The faults. A fault with rate n strikes about once in n steps of the run; rate 0 is never.
// unreliable_loss counts packets instead of steps, datagram_reordering messages, and
// registration_failure registrations.
enum class FaultKind : std::uint8_t {
  client_crash,          // a client's host dies; data it had sent may still land, wholly or in part
  client_pause,          // a client's fibers pause; its device continues
  queue_pair_error,      // a connection breaks; requests in flight are in doubt
  unreliable_loss,       // a packet on UC or UD is lost
  datagram_reordering,   // a datagram is overtaken by later ones
  message_delay,         // a queue pair with a SEND in flight stalls
  late_packets,          // a queue pair with a READ, WRITE or atomic in flight stalls
  server_stall,          // a server's fibers pause; its device continues
  server_restart,        // a server's host dies and comes back empty
  latency_spike,         // everything in flight takes longer than the next timer
  client_stop,           // a client's fibers stop forever; its device continues
  server_stop,           // a server's fibers stop forever; its device continues
  registration_failure,  // registering memory fails with out_of_memory
  // data that a client sent counts as landing for a while; forever if the client is stopped
  slow_landing,
  clock_step,  // a host's wall clock is set to another time that clock_offset_ns permits
};
inline constexpr std::size_t fault_kind_count = 15;
std::string_view to_string(FaultKind kind);

struct SimulationOptions {
  StrategyKind strategy = StrategyKind::random;
  std::uint64_t pct_depth = 3;           // number of priority changes, plus one
  std::uint64_t pct_steps = 1'000;       // the changes fall within these first decisions
  std::uint64_t step_limit = 1'000'000;  // a longer run is aborted
  std::uint64_t step_duration_ns = 100;  // how far each step advances the clock

  std::array<std::uint64_t, fault_kind_count> fault_rates{};
  std::uint64_t last_fault_step = ~std::uint64_t{0};  // no fault strikes afterwards
  // Above 0: faults also follow rare events. When a program counts a probe for the nth time, one in
  // n times this number, one of the faults with a rate above 0 strikes within the next steps.
  std::uint64_t fault_after_probe = 0;
  // Above 0: instead of the steps that rates imply, the schedule chooses when faults of the kinds
  // with a rate above 0 strike: any at any step, at most this number. A pause or delay takes
  // longest_stall_ns.
  std::uint64_t max_chosen_faults = 0;
  std::uint64_t longest_stall_ns = 10'000'000'000;  // longest pause or delay; logarithmic

  // Each host draws how far its clocks are off, and how fast they run.
  std::uint64_t clock_offset_ns = 0;  // the largest error of a wall clock, in either direction
  std::uint64_t clock_drift_ppm = 0;  // the largest error of the speed of clocks

  Granularity granularity = Granularity::word;
  // The least order that devices keep in regions that do not permit less.
  fabric::RegionOrdering region_ordering = fabric::RegionOrdering::strong;
  bool address_order = false;              // transfers move words in ascending order
  bool placed_before_completed = false;    // a WRITE completes when all of it is in memory
  bool failing_cas_writes_back = false;    // a CAS that does not match writes the old word again
  bool processor_preemption = false;       // traffic may come between the processor's accesses
  bool late_visibility = false;            // the processor may see words of a WRITE late
  bool store_buffers = false;              // stores of processors reach memory later
  bool failure_before_landing = false;     // a first failure does not wait for the peer's data
  bool bounds_per_packet = false;          // packets land up to the end of a region
  bool distinct_keys = false;              // the local and the remote key of a region differ
  bool keys_reused_after_restart = false;  // regions of a host may get keys of its former life
  bool undefined_failure_fields = false;   // failed completions contain arbitrary values
  bool completions_outlive_queue_pair = false;  // those not polled when it is closed stay
  bool fibers_take_turns = false;  // those of a host run in the order in which they can
  // A request without an answer fails after up to this many times
  // (retry_count + 1) * acknowledge_timeout_ns.
  std::uint64_t slowest_detection = 1;
  fabric::AtomicCapability atomic_capability = fabric::AtomicCapability::device;
  OnDemandPaging on_demand_paging = OnDemandPaging::none;
  std::uint64_t mtu_bytes = 4096;
  std::uint64_t max_message_bytes = std::uint64_t{1} << 31;
  std::uint64_t max_inline_bytes = 256;
  std::uint64_t max_outstanding_reads_and_atomics = 16;
  // The bytes of a message stream that kernels hold; further SENDs complete when the peer receives.
  std::uint64_t stream_buffer_bytes = 65'536;

  std::uint64_t fault_rate(FaultKind kind) const {
    return fault_rates[static_cast<std::size_t>(kind)];
  }
  void set_fault_rate(FaultKind kind, std::uint64_t rate) {
    fault_rates[static_cast<std::size_t>(kind)] = rate;
  }

  friend bool operator==(const SimulationOptions&, const SimulationOptions&) = default;
};

// Swarm testing (Groce et al. 2012): draws the options from a seed and enables each feature or not,
// so a campaign visits many small configurations instead of one average one.
SimulationOptions draw_swarm_options(std::uint64_t seed);

// An option as text: its name, its meaning, its values, and access to it. If the text is not a
// valid value, `set` returns false and changes nothing.
struct OptionDescription {
  std::string name;
  std::string meaning;
  std::string values;
  // Replay files older than the option lack it; they were recorded with its default.
  bool is_in_every_replay_file = true;
  std::function<bool(const SimulationOptions&)> is_valid;
  std::function<std::string(const SimulationOptions&)> get;
  std::function<bool(SimulationOptions&, std::string_view)> set;
};
const std::vector<OptionDescription>& option_descriptions();

// Sets the option of that name. Returns a message, and leaves `options` unchanged, if there is no
// such option or the text is not one of its values.
std::optional<std::string> set_option(SimulationOptions& options, std::string_view name,
                                      std::string_view text);

// Returns a message about the first option whose value is out of range.
std::optional<std::string> find_invalid_option(const SimulationOptions& options);

}  // namespace falafel::sim
