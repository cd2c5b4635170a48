#include "explorer/simulation_choices.h"

#include <fmt/format.h>

namespace falafel::explorer {

std::vector<std::function<void(sim::SimulationOptions&)>> simulation_simplifications() {
  using sim::SimulationOptions;
  std::vector<std::function<void(SimulationOptions&)>> all;
  for (std::size_t index = 0; index < sim::fault_kind_count; ++index) {
    all.emplace_back([index](SimulationOptions& options) {
      options.set_fault_rate(static_cast<sim::FaultKind>(index), 0);
    });
  }
  all.emplace_back([](SimulationOptions& options) {
    if (options.max_chosen_faults == 0) return;
    options.fault_rates = {};
    options.max_chosen_faults = 0;
  });
  all.emplace_back([](SimulationOptions& options) { options.fault_after_probe = 0; });
  all.emplace_back([](SimulationOptions& options) { options.processor_preemption = false; });
  all.emplace_back([](SimulationOptions& options) { options.late_visibility = false; });
  all.emplace_back([](SimulationOptions& options) { options.store_buffers = false; });
  all.emplace_back([](SimulationOptions& options) { options.failure_before_landing = false; });
  all.emplace_back([](SimulationOptions& options) { options.failing_cas_writes_back = false; });
  all.emplace_back([](SimulationOptions& options) { options.bounds_per_packet = false; });
  all.emplace_back([](SimulationOptions& options) { options.undefined_failure_fields = false; });
  all.emplace_back(
      [](SimulationOptions& options) { options.completions_outlive_queue_pair = false; });
  all.emplace_back([](SimulationOptions& options) { options.slowest_detection = 1; });
  all.emplace_back([](SimulationOptions& options) { options.distinct_keys = false; });
  all.emplace_back([](SimulationOptions& options) { options.keys_reused_after_restart = false; });
  all.emplace_back(
      [](SimulationOptions& options) { options.on_demand_paging = sim::OnDemandPaging::none; });
  all.emplace_back(
      [](SimulationOptions& options) { options.region_ordering = fabric::RegionOrdering::strong; });
  all.emplace_back(
      [](SimulationOptions& options) { options.granularity = sim::Granularity::packet; });
  all.emplace_back([](SimulationOptions& options) { options.address_order = true; });
  all.emplace_back([](SimulationOptions& options) {
    const SimulationOptions plain;
    options.mtu_bytes = plain.mtu_bytes;
    options.max_outstanding_reads_and_atomics = plain.max_outstanding_reads_and_atomics;
    options.max_message_bytes = plain.max_message_bytes;
    options.max_inline_bytes = plain.max_inline_bytes;
  });
  return all;
}

std::string describe_simulation(const sim::SimulationOptions& options) {
  std::string text = "  simulator:";
  const sim::SimulationOptions defaults;
  const char* separator = " ";
  for (const sim::OptionDescription& option : sim::option_descriptions()) {
    const std::string value = option.get(options);
    if (value == option.get(defaults)) continue;
    text += fmt::format("{}{} {}", separator, option.name, value);
    separator = ", ";
  }
  text += '\n';
  return text;
}

}  // namespace falafel::explorer
