// The configuration of a simulated run: everything beside the program and the choices that a run is a
// function of. Every option has a name, a range and a meaning in one table (option_descriptions), from
// which replay files, their checks and docs/replay-file.md are made.
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

namespace falafel::sim {

enum class StrategyKind : std::uint8_t { random, pct };

// What a transfer moves whole. `word` is the contract; `byte` is a host that copies with plain memcpy
// (weaker than the contract); `packet` a device that places packets at once.
enum class Granularity : std::uint8_t { byte, word, packet };

// What can go wrong. A rate of n means: about once in n steps of the run (unreliable_loss: in n
// packets, datagram_reordering: in n messages, registration_failure: in n registrations); 0 is never.
enum class FaultKind : std::uint8_t {
  client_crash,          // a client's host dies; what it had sent may still land, wholly or in part
  client_pause,          // a client's fibers stand still, its device goes on
  queue_pair_error,      // a connection breaks; work in flight is in doubt
  unreliable_loss,       // a packet on UC or UD is lost
  datagram_reordering,   // a datagram is overtaken by later ones
  message_delay,         // a queue pair with a SEND in flight stands still
  late_packets,          // a queue pair with a READ, WRITE or atomic in flight stands still
  server_stall,          // a server's fibers stand still, its device goes on
  server_restart,        // a server's host dies and comes back empty
  latency_spike,         // everything in flight is slower than the next timer
  client_stop,           // a client's fibers stand still for good, its device goes on
  server_stop,           // a server's fibers stand still for good, its device goes on
  registration_failure,  // a registration of memory is refused: out of memory
};
inline constexpr std::size_t fault_kind_count = 13;
std::string_view to_string(FaultKind kind);

struct SimulationOptions {
  StrategyKind strategy = StrategyKind::random;
  std::uint64_t pct_depth = 3;           // priority changes, plus one
  std::uint64_t pct_steps = 1'000;       // the length of run that they are spread over
  std::uint64_t step_limit = 1'000'000;  // a run that takes more is given up
  std::uint64_t step_duration_ns = 100;  // how far the clock moves with each step

  std::array<std::uint64_t, fault_kind_count> fault_rates{};
  std::uint64_t last_fault_step = ~std::uint64_t{0};  // no fault strikes afterwards
  std::uint64_t longest_stall_ns = 10'000'000'000;    // of pauses and delays, drawn logarithmically

  Granularity granularity = Granularity::word;
  bool address_order = false;            // transfers move in ascending order
  bool failing_cas_writes_back = false;  // a CAS that does not match writes the old word again
  bool processor_preemption = false;     // traffic may come between the processor's accesses
  bool late_visibility = false;          // the processor may see words of a WRITE late
  bool failure_before_landing = false;   // only flushes wait for the peer's data, no first failure
  fabric::AtomicCapability atomic_capability = fabric::AtomicCapability::device;
  std::uint64_t mtu_bytes = 4096;
  std::uint64_t max_message_bytes = std::uint64_t{1} << 31;
  std::uint64_t max_inline_bytes = 256;
  std::uint64_t max_outstanding_reads_and_atomics = 16;

  std::uint64_t fault_rate(FaultKind kind) const {
    return fault_rates[static_cast<std::size_t>(kind)];
  }
  void set_fault_rate(FaultKind kind, std::uint64_t rate) {
    fault_rates[static_cast<std::size_t>(kind)] = rate;
  }

  friend bool operator==(const SimulationOptions&, const SimulationOptions&) = default;
};

// Swarm testing (Groce et al. 2012): options drawn from a seed, each feature in or out, so that a
// campaign visits many small worlds instead of one average one.
SimulationOptions draw_swarm_options(std::uint64_t seed);

// An option as text: its name, what it means, the values it takes, and access to it. `set` returns
// false, and changes nothing, if the text is no such value.
struct OptionDescription {
  std::string name;
  std::string meaning;
  std::string values;
  // Replay files that are older than the option lack it; they were recorded with its default.
  bool is_in_every_replay_file = true;
  std::function<bool(const SimulationOptions&)> is_valid;
  std::function<std::string(const SimulationOptions&)> get;
  std::function<bool(SimulationOptions&, std::string_view)> set;
};
const std::vector<OptionDescription>& option_descriptions();

// Sets the option of that name. What is wrong, as a message, if there is no such option or the text
// is no value of it; `options` are then as before.
std::optional<std::string> set_option(SimulationOptions& options, std::string_view name,
                                      std::string_view text);

// The first option whose value is out of its range, as a message.
std::optional<std::string> find_invalid_option(const SimulationOptions& options);

}  // namespace falafel::sim
