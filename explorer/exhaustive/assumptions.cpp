#include "explorer/exhaustive/assumptions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <string_view>

namespace falafel::explorer {
namespace {

using sim::FaultKind;
using sim::Granularity;
using sim::SimulationOptions;

void add_placement(const SimulationOptions& options, std::vector<std::string>& all) {
  if (options.granularity == Granularity::line) {
    all.emplace_back("aligned lines of 64 bytes are placed and read whole");
  }
  if (options.granularity == Granularity::packet) all.emplace_back("packets are placed whole");
  if (options.address_order)
    all.emplace_back("the words of a transfer are placed in ascending order");
  if (!options.late_visibility) {
    all.emplace_back("processors see the words of a WRITE as soon as they are placed");
  }
}

void add_processors(const SimulationOptions& options, std::vector<std::string>& all) {
  if (!options.store_buffers) all.emplace_back("stores of processors reach memory at once");
  if (!options.processor_preemption) {
    all.emplace_back("nothing happens between the accesses of a processor, until its fiber waits");
  }
  if (options.fibers_take_turns) {
    all.emplace_back("the fibers of a host run in the order in which they became able to");
  }
  if (options.atomic_capability == fabric::AtomicCapability::global) {
    all.emplace_back("atomics of devices are atomic with those of processors");
  }
}

void add_device(const SimulationOptions& options, std::vector<std::string>& all) {
  if (!options.failing_cas_writes_back) {
    all.emplace_back("a compare-and-swap that fails writes nothing back");
  }
  if (!options.failure_before_landing) {
    all.emplace_back("a failure is reported after the data of the peer has landed");
  }
  if (!options.bounds_per_packet) {
    all.emplace_back("no packet lands of a request that leaves its region");
  }
  if (!options.undefined_failure_fields) {
    all.emplace_back("completions of requests that failed have their usual opcode and length");
  }
  if (options.slowest_detection == 1) {
    all.emplace_back("a request without an answer fails as soon as its last retry has timed out");
  }
  if (!options.distinct_keys) all.emplace_back("the keys of a region are equal");
  if (!options.keys_reused_after_restart) {
    all.emplace_back("the regions of a host that has restarted get new keys");
  }
  all.push_back(fmt::format(
      "packets have {} bytes, {} READs and atomics may be outstanding, and {} bytes can be inlined",
      options.mtu_bytes, options.max_outstanding_reads_and_atomics, options.max_inline_bytes));
}

void add_faults(const SimulationOptions& options, std::vector<std::string>& all) {
  std::vector<std::string_view> kinds;
  for (std::size_t index = 0; index < sim::fault_kind_count; ++index) {
    const auto kind = static_cast<FaultKind>(index);
    if (options.fault_rate(kind) > 0) kinds.push_back(to_string(kind));
  }
  if (options.max_chosen_faults > 0 && !kinds.empty()) {
    all.push_back(fmt::format("at most {} faults strike: {}", options.max_chosen_faults,
                              fmt::join(kinds, ", ")));
    return;
  }
  all.emplace_back(
      "hosts do not crash, restart, stop or pause, connections do not break, and registrations do "
      "not fail");
  for (const FaultKind kind : {FaultKind::unreliable_loss, FaultKind::datagram_reordering}) {
    if (options.fault_rate(kind) > 0) continue;
    all.emplace_back(kind == FaultKind::unreliable_loss ? "unreliable connections lose no packet"
                                                        : "datagrams are not overtaken");
  }
}

}  // namespace

void weaken_network(SimulationOptions& options) {
  constexpr std::uint64_t any_rate = 2;  // an exploration tries both, whatever the rate
  options.granularity = Granularity::word;
  options.address_order = false;
  options.placed_before_completed = false;
  options.late_visibility = true;
  options.store_buffers = true;
  options.processor_preemption = true;
  options.fibers_take_turns = false;
  options.atomic_capability = fabric::AtomicCapability::device;
  options.failing_cas_writes_back = true;
  options.failure_before_landing = true;
  options.bounds_per_packet = true;
  options.distinct_keys = true;
  options.keys_reused_after_restart = true;
  options.undefined_failure_fields = true;
  options.set_fault_rate(FaultKind::unreliable_loss, any_rate);
  options.set_fault_rate(FaultKind::datagram_reordering, any_rate);
}

std::vector<std::string> assumptions_of(const SimulationOptions& options,
                                        std::uint64_t fixed_choices) {
  std::vector<std::string> all;
  add_placement(options, all);
  add_processors(options, all);
  add_device(options, all);
  add_faults(options, all);
  if (options.clock_offset_ns == 0) all.emplace_back("wall clocks are right");
  if (options.clock_drift_ppm == 0) all.emplace_back("clocks run at the same speed");
  if (fixed_choices > 0) {
    all.push_back(fmt::format(
        "up to {} choices of a run are fixed, because they are outside of the explored part",
        fixed_choices));
  }
  return all;
}

}  // namespace falafel::explorer
