// The table of options. One function per type makes the rows, so only two places parse text and
// check ranges.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>

#include "fabric/sim/options/options.h"

namespace falafel::sim {

namespace {

constexpr std::uint64_t largest_number = ~std::uint64_t{0};
// Steps times their duration, plus all stalls, stay far below the 2^64 ns that a clock can count.
constexpr std::uint64_t most_steps = 1'000'000'000'000;
constexpr std::uint64_t longest_step_ns = 1'000'000;
constexpr std::uint64_t one_hour_ns = 3'600'000'000'000;
constexpr std::uint64_t most_chosen_faults = 1'000;
constexpr std::uint64_t largest_drift_ppm = 100'000;
constexpr std::uint64_t slowest_detection_of_all = 100;
constexpr std::uint64_t largest_stream_buffer_bytes = std::uint64_t{1} << 40;

// Accepts decimal digits and nothing else.
std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed_end, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || parsed_end != end) return std::nullopt;
  return number;
}

struct Range {
  std::uint64_t first;
  std::uint64_t last;
};

std::string describe(Range range) {
  if (range.last == largest_number) return fmt::format("{} or more", range.first);
  return fmt::format("{} to {}", range.first, range.last);
}

// `access` returns the number within the options, const or not.
template <typename Access>
OptionDescription number_option(const std::string& name, const std::string& meaning, Range range,
                                Access access) {
  return {
      .name = name,
      .meaning = meaning,
      .values = describe(range),
      .is_valid =
          [access, range](const SimulationOptions& options) {
            return access(options) >= range.first && access(options) <= range.last;
          },
      .get = [access](const SimulationOptions& options) { return std::to_string(access(options)); },
      .set =
          [access, range](SimulationOptions& options, std::string_view text) {
            const std::optional<std::uint64_t> number = parse_number(text);
            if (!number || *number < range.first || *number > range.last) return false;
            access(options) = *number;
            return true;
          },
  };
}

OptionDescription number(const std::string& name, const std::string& meaning, Range range,
                         std::uint64_t SimulationOptions::*member) {
  return number_option(
      name, meaning, range, [member](auto& options) -> auto& { return options.*member; });
}

OptionDescription fault_rate(FaultKind kind, std::string_view effect, std::string_view unit) {
  const auto index = static_cast<std::size_t>(kind);
  return number_option(
      fmt::format("fault_rate.{}", to_string(kind)),
      fmt::format("{}, about once every N {}; 0: never", effect, unit),
      {0, most_steps}, [index](auto& options) -> auto& { return options.fault_rates[index]; });
}

// An option with few values, each of which has a name.
template <typename Value>
struct NamedValue {
  std::string text;
  Value value;
};

template <typename Value>
OptionDescription selection(const std::string& name, const std::string& meaning,
                            Value SimulationOptions::*member,
                            std::vector<NamedValue<Value>> values) {
  std::vector<std::string> texts;
  texts.reserve(values.size());
  for (const NamedValue<Value>& named : values) texts.push_back(named.text);
  return {
      .name = name,
      .meaning = meaning,
      .values = fmt::format("{}", fmt::join(texts, ", ")),
      .is_valid =
          [member, values](const SimulationOptions& options) {
            return std::ranges::find(values, options.*member, &NamedValue<Value>::value) !=
                   values.end();
          },
      .get =
          [member, values](const SimulationOptions& options) {
            const auto named =
                std::ranges::find(values, options.*member, &NamedValue<Value>::value);
            if (named != values.end()) return named->text;
            return std::to_string(static_cast<std::uint64_t>(options.*member));  // out of range
          },
      .set =
          [member, values](SimulationOptions& options, std::string_view text) {
            const auto named = std::ranges::find(values, text, &NamedValue<Value>::text);
            if (named == values.end()) return false;
            options.*member = named->value;
            return true;
          },
  };
}

OptionDescription flag(const std::string& name, const std::string& meaning,
                       bool SimulationOptions::*member) {
  return selection<bool>(name, meaning, member, {{"false", false}, {"true", true}});
}

// An option that older replay files lack.
OptionDescription later(OptionDescription option) {
  option.is_in_every_replay_file = false;
  return option;
}

std::vector<NamedValue<StrategyKind>> strategies() {
  std::vector<NamedValue<StrategyKind>> named;
  for (std::size_t index = 0; index < strategy_kind_count; ++index) {
    const auto kind = static_cast<StrategyKind>(index);
    named.push_back({.text = std::string(to_string(kind)), .value = kind});
  }
  return named;
}

void add_scheduling(std::vector<OptionDescription>& table) {
  table.push_back(selection<StrategyKind>(
      "strategy",
      "how to pick the next actor: at random, by priorities that rarely change, by priorities of "
      "single steps, or at random in proportion to the steps left",
      &SimulationOptions::strategy, strategies()));
  table.push_back(number("pct_depth", "strategy pct: the number of priority changes, plus one",
                         {1, 100}, &SimulationOptions::pct_depth));
  table.push_back(number(
      "pct_steps", "strategy pct: the number of scheduling decisions among which the changes occur",
      {1, most_steps}, &SimulationOptions::pct_steps));
  table.push_back(number("step_limit",
                         "a run that takes more steps ends with the outcome step_limit",
                         {1, most_steps}, &SimulationOptions::step_limit));
  table.push_back(number("step_duration_ns", "how far the clock advances with each step",
                         {0, longest_step_ns}, &SimulationOptions::step_duration_ns));
}

void add_faults(std::vector<OptionDescription>& table) {
  const auto add = [&table](FaultKind kind, std::string_view effect, std::string_view unit) {
    table.push_back(fault_rate(kind, effect, unit));
  };
  add(FaultKind::client_crash, "a client's host dies and its sent requests may still land",
      "steps");
  add(FaultKind::client_pause, "a client's fibers pause while its device continues", "steps");
  add(FaultKind::queue_pair_error, "a connection breaks and leaves requests in flight in doubt",
      "steps");
  add(FaultKind::unreliable_loss, "a packet on UC or UD is lost", "packets");
  add(FaultKind::datagram_reordering, "later datagrams overtake a datagram", "messages");
  add(FaultKind::message_delay, "a queue pair with a SEND in flight stalls", "steps");
  add(FaultKind::late_packets, "a queue pair with a READ, WRITE or atomic in flight stalls",
      "steps");
  add(FaultKind::server_stall, "a server's fibers pause while its device continues", "steps");
  add(FaultKind::server_restart, "a server's host dies and restarts empty", "steps");
  add(FaultKind::latency_spike, "everything in flight is slower than the next timer", "steps");
  const auto add_later = [&table](FaultKind kind, std::string_view effect, std::string_view unit) {
    table.push_back(later(fault_rate(kind, effect, unit)));
  };
  add_later(FaultKind::client_stop, "a client's fibers stop permanently while its device continues",
            "steps");
  add_later(FaultKind::server_stop, "a server's fibers stop permanently while its device continues",
            "steps");
  add_later(FaultKind::registration_failure, "a memory registration fails with `out_of_memory`",
            "registrations");
  add_later(FaultKind::slow_landing,
            "what a client sent counts as landing for a while, forever if the client is stopped",
            "steps");
  add_later(FaultKind::clock_step,
            "a host's wall clock is set to another time that `clock_offset_ns` permits", "steps");

  table.push_back(number("last_fault_step", "no fault strikes after this step", {0, largest_number},
                         &SimulationOptions::last_fault_step));
  table.push_back(
      later(number("fault_after_probe",
                   "when a program counts a probe for the nth time, one in n times this "
                   "number, a fault that is on follows soon; 0: faults know no probes",
                   {0, most_steps}, &SimulationOptions::fault_after_probe)));
  table.push_back(later(number("max_chosen_faults",
                               "at most so many faults strike, any kind with a rate above 0 at any "
                               "step, as the schedule chooses; 0: at the steps that rates imply",
                               {0, most_chosen_faults}, &SimulationOptions::max_chosen_faults)));
  table.push_back(number("longest_stall_ns", "the longest duration of a pause or delay",
                         {1, one_hour_ns}, &SimulationOptions::longest_stall_ns));
}

void add_clocks(std::vector<OptionDescription>& table) {
  table.push_back(later(number(
      "clock_offset_ns",
      "by how much a host's wall clock is off at most when it is set, in either direction; the "
      "monotonic clock starts late by as much at most",
      {0, one_hour_ns}, &SimulationOptions::clock_offset_ns)));
  table.push_back(later(number("clock_drift_ppm",
                               "by how many parts per million a host's clocks are fast or "
                               "slow at most",
                               {0, largest_drift_ppm}, &SimulationOptions::clock_drift_ppm)));
}

void add_device(std::vector<OptionDescription>& table) {
  table.push_back(selection<Granularity>(
      "granularity",
      "the unit that a transfer never tears; byte is weaker than the fabric contract",
      &SimulationOptions::granularity,
      {{"byte", Granularity::byte},
       {"word", Granularity::word},
       {"line", Granularity::line},
       {"packet", Granularity::packet}}));
  using fabric::RegionOrdering;
  table.push_back(later(selection<RegionOrdering>(
      "region_ordering",
      "the order in which devices access regions that do not ask for a weaker one; relaxed and "
      "unordered are weaker than the fabric contract",
      &SimulationOptions::region_ordering,
      {{"strong", RegionOrdering::strong},
       {"relaxed", RegionOrdering::relaxed},
       {"unordered", RegionOrdering::unordered}})));
  table.push_back(flag("address_order", "transfers move data in ascending address order",
                       &SimulationOptions::address_order));
  table.push_back(later(flag("placed_before_completed",
                             "a WRITE on a reliable connection completes when all of it is in "
                             "memory, which no contract promises",
                             &SimulationOptions::placed_before_completed)));
  table.push_back(flag("failing_cas_writes_back",
                       "a CAS that does not match writes the old word again",
                       &SimulationOptions::failing_cas_writes_back));
  table.push_back(flag("processor_preemption",
                       "other actors may step between two accesses of the processor",
                       &SimulationOptions::processor_preemption));
  table.push_back(
      later(flag("late_visibility", "the responder's processor may see words of a WRITE late",
                 &SimulationOptions::late_visibility)));
  table.push_back(later(
      flag("store_buffers",
           "stores of a processor reach memory late and in order, and its loads may pass them",
           &SimulationOptions::store_buffers)));
  table.push_back(
      later(flag("failure_before_landing",
                 "the first request to fail may complete while data of the peer is still landing",
                 &SimulationOptions::failure_before_landing)));
  table.push_back(later(
      flag("bounds_per_packet",
           "the responder checks the bounds of each packet instead of those of the whole request",
           &SimulationOptions::bounds_per_packet)));
  table.push_back(later(flag("distinct_keys", "the local and the remote key of a region differ",
                             &SimulationOptions::distinct_keys)));
  table.push_back(later(flag("keys_reused_after_restart",
                             "a region may get the key of one that its host registered before it "
                             "restarted, so stale keys may be accepted",
                             &SimulationOptions::keys_reused_after_restart)));
  table.push_back(later(flag("undefined_failure_fields",
                             "completions that failed contain arbitrary values, except id, status "
                             "and queue pair number",
                             &SimulationOptions::undefined_failure_fields)));
  table.push_back(later(flag("completions_outlive_queue_pair",
                             "completions that were not polled when their queue pair was closed "
                             "can still be polled; weaker than the fabric contract",
                             &SimulationOptions::completions_outlive_queue_pair)));
  table.push_back(
      later(number("slowest_detection",
                   "a request without an answer fails after up to this many times "
                   "(retry_count + 1) * acknowledge_timeout_ns",
                   {1, slowest_detection_of_all}, &SimulationOptions::slowest_detection)));
  table.push_back(later(flag("fibers_take_turns",
                             "the fibers of a host run in the order in which they became able to",
                             &SimulationOptions::fibers_take_turns)));
  using fabric::AtomicCapability;
  table.push_back(selection<AtomicCapability>(
      "atomic_capability",
      "none: no atomics; device: atomics of the device exclude each other; global: processors too",
      &SimulationOptions::atomic_capability,
      {{"none", AtomicCapability::none},
       {"device", AtomicCapability::device},
       {"global", AtomicCapability::global}}));
  table.push_back(later(selection<OnDemandPaging>(
      "on_demand_paging",
      "the uses of memory that the device of a verbs program pages instead of pinning the memory",
      &SimulationOptions::on_demand_paging,
      {{"none", OnDemandPaging::none},
       {"without_atomics", OnDemandPaging::without_atomics},
       {"all", OnDemandPaging::all}})));
  table.push_back(selection<std::uint64_t>(
      "mtu_bytes", "the most data in a packet", &SimulationOptions::mtu_bytes,
      {{"16", 16}, {"256", 256}, {"512", 512}, {"1024", 1024}, {"2048", 2048}, {"4096", 4096}}));
  table.push_back(later(number("max_message_bytes", "the most data in a request",
                               {4096, std::numeric_limits<std::uint32_t>::max()},
                               &SimulationOptions::max_message_bytes)));
  table.push_back(
      later(number("stream_buffer_bytes",
                   "how much of a message stream the kernels hold until the peer "
                   "receives it; further SENDs complete only then",
                   {0, largest_stream_buffer_bytes}, &SimulationOptions::stream_buffer_bytes)));
  table.push_back(number("max_inline_bytes", "the most data in an inline request", {0, 4096},
                         &SimulationOptions::max_inline_bytes));
  table.push_back(number("max_outstanding_reads_and_atomics",
                         "the most READs and atomics in flight on a queue pair", {1, 255},
                         &SimulationOptions::max_outstanding_reads_and_atomics));
}

}  // namespace

const std::vector<OptionDescription>& option_descriptions() {
  static const std::vector<OptionDescription> table = [] {
    std::vector<OptionDescription> rows;
    add_scheduling(rows);
    add_faults(rows);
    add_clocks(rows);
    add_device(rows);
    return rows;
  }();
  return table;
}

}  // namespace falafel::sim
