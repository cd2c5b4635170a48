#include "fabric/sim/options/options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "fabric/sim/options/options_table.h"

namespace falafel::sim {
namespace {

constexpr std::uint64_t swarm_size = 10'000;
constexpr std::uint64_t largest_number = std::numeric_limits<std::uint64_t>::max();

std::string value_of(const SimulationOptions& options, std::string_view name) {
  const auto& table = option_descriptions();
  return std::ranges::find(table, name, &OptionDescription::name)->get(options);
}

TEST(OptionDescriptions, AreUniqueAndFilledIn) {
  std::set<std::string> names;
  for (const OptionDescription& option : option_descriptions()) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
    EXPECT_FALSE(option.meaning.empty()) << option.name;
    EXPECT_FALSE(option.values.empty()) << option.name;
  }
}

TEST(OptionDescriptions, CoverEveryOption) {
  // Each option has a value other than its default, so the result must differ in all fields.
  const std::map<std::string, std::string> others = {{"strategy", "pct"},
                                                     {"pct_depth", "4"},
                                                     {"pct_steps", "5"},
                                                     {"step_limit", "6"},
                                                     {"step_duration_ns", "7"},
                                                     {"fault_rate.client_crash", "11"},
                                                     {"fault_rate.client_pause", "12"},
                                                     {"fault_rate.queue_pair_error", "13"},
                                                     {"fault_rate.unreliable_loss", "14"},
                                                     {"fault_rate.datagram_reordering", "15"},
                                                     {"fault_rate.message_delay", "16"},
                                                     {"fault_rate.late_packets", "17"},
                                                     {"fault_rate.server_stall", "18"},
                                                     {"fault_rate.server_restart", "19"},
                                                     {"fault_rate.latency_spike", "20"},
                                                     {"fault_rate.client_stop", "21"},
                                                     {"fault_rate.server_stop", "22"},
                                                     {"fault_rate.registration_failure", "23"},
                                                     {"fault_rate.slow_landing", "24"},
                                                     {"fault_rate.clock_step", "25"},
                                                     {"last_fault_step", "8"},
                                                     {"fault_after_probe", "30"},
                                                     {"max_chosen_faults", "28"},
                                                     {"longest_stall_ns", "9"},
                                                     {"stream_buffer_bytes", "29"},
                                                     {"clock_offset_ns", "26"},
                                                     {"clock_drift_ppm", "27"},
                                                     {"granularity", "packet"},
                                                     {"region_ordering", "unordered"},
                                                     {"address_order", "true"},
                                                     {"placed_before_completed", "true"},
                                                     {"failing_cas_writes_back", "true"},
                                                     {"processor_preemption", "true"},
                                                     {"late_visibility", "true"},
                                                     {"store_buffers", "true"},
                                                     {"failure_before_landing", "true"},
                                                     {"bounds_per_packet", "true"},
                                                     {"distinct_keys", "true"},
                                                     {"keys_reused_after_restart", "true"},
                                                     {"undefined_failure_fields", "true"},
                                                     {"completions_outlive_queue_pair", "true"},
                                                     {"slowest_detection", "31"},
                                                     {"fibers_take_turns", "true"},
                                                     {"atomic_capability", "global"},
                                                     {"on_demand_paging", "all"},
                                                     {"mtu_bytes", "512"},
                                                     {"max_message_bytes", "5000"},
                                                     {"max_inline_bytes", "10"},
                                                     {"max_outstanding_reads_and_atomics", "3"}};
  ASSERT_EQ(option_descriptions().size(), others.size());
  SimulationOptions options;
  for (const auto& [name, text] : others) {
    EXPECT_EQ(set_option(options, name, text), std::nullopt);
    EXPECT_EQ(value_of(options, name), text);
  }
  const SimulationOptions expected{
      .strategy = StrategyKind::pct,
      .pct_depth = 4,
      .pct_steps = 5,
      .step_limit = 6,
      .step_duration_ns = 7,
      .fault_rates = {11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25},
      .last_fault_step = 8,
      .fault_after_probe = 30,
      .max_chosen_faults = 28,
      .longest_stall_ns = 9,
      .clock_offset_ns = 26,
      .clock_drift_ppm = 27,
      .granularity = Granularity::packet,
      .region_ordering = fabric::RegionOrdering::unordered,
      .address_order = true,
      .placed_before_completed = true,
      .failing_cas_writes_back = true,
      .processor_preemption = true,
      .late_visibility = true,
      .store_buffers = true,
      .failure_before_landing = true,
      .bounds_per_packet = true,
      .distinct_keys = true,
      .keys_reused_after_restart = true,
      .undefined_failure_fields = true,
      .completions_outlive_queue_pair = true,
      .fibers_take_turns = true,
      .slowest_detection = 31,
      .atomic_capability = fabric::AtomicCapability::global,
      .on_demand_paging = OnDemandPaging::all,
      .mtu_bytes = 512,
      .max_message_bytes = 5'000,
      .max_inline_bytes = 10,
      .max_outstanding_reads_and_atomics = 3,
      .stream_buffer_bytes = 29,
  };
  EXPECT_EQ(options, expected);
}

TEST(OptionDescriptions, RefuseWhatIsNoValueAndChangeNothing) {
  for (const OptionDescription& option : option_descriptions()) {
    for (const char* text : {"", " ", "-1", "+1", " 1", "1 ", "1.5", "1e3", "0x10", "yes", "TRUE",
                             "18446744073709551616", "99999999999999999999999"}) {
      SimulationOptions options;
      EXPECT_FALSE(option.set(options, text)) << option.name << " " << text;
      EXPECT_EQ(options, SimulationOptions{});
    }
  }
}

struct RangeCase {
  const char* name;
  std::uint64_t first;
  std::uint64_t last;
};

TEST(OptionDescriptions, TakeBothEndsOfTheirRangesAndNothingBeyond) {
  for (const RangeCase& range : {RangeCase{"pct_depth", 1, 100},
                                 {"pct_steps", 1, 1'000'000'000'000},
                                 {"step_limit", 1, 1'000'000'000'000},
                                 {"step_duration_ns", 0, 1'000'000},
                                 {"fault_rate.late_packets", 0, 1'000'000'000'000},
                                 {"last_fault_step", 0, largest_number},
                                 {"fault_after_probe", 0, 1'000'000'000'000},
                                 {"max_chosen_faults", 0, 1'000},
                                 {"longest_stall_ns", 1, 3'600'000'000'000},
                                 {"max_message_bytes", 4096, 4'294'967'295},
                                 {"max_inline_bytes", 0, 4096},
                                 {"max_outstanding_reads_and_atomics", 1, 255}}) {
    SimulationOptions options;
    const auto sets = [&](std::uint64_t value) {
      return !set_option(options, range.name, std::to_string(value));
    };
    EXPECT_TRUE(sets(range.first)) << range.name;
    EXPECT_TRUE(sets(range.last)) << range.name;
    EXPECT_TRUE(range.first == 0 || !sets(range.first - 1)) << range.name;
    EXPECT_TRUE(range.last == largest_number || !sets(range.last + 1)) << range.name;
  }
}

TEST(SetOption, NamesTheNearestOption) {
  SimulationOptions options;
  EXPECT_EQ(set_option(options, "pct_dept", "3"),
            "unknown option 'pct_dept'; the nearest that exists is pct_depth");
  EXPECT_EQ(
      set_option(options, "fault_rate.crash", "3"),
      "unknown option 'fault_rate.crash'; the nearest that exists is fault_rate.client_crash");
  EXPECT_TRUE(set_option(options, "", "3"));
  EXPECT_EQ(options, SimulationOptions{});
}

TEST(SetOption, NamesTheValuesOfAnOption) {
  SimulationOptions options;
  EXPECT_EQ(set_option(options, "mtu_bytes", "100"),
            "option mtu_bytes cannot be '100'; its values: 16, 256, 512, 1024, 2048, 4096");
  EXPECT_EQ(set_option(options, "pct_depth", "0"),
            "option pct_depth cannot be '0'; its values: 1 to 100");
}

TEST(SetOption, QuotesHostileTextsBriefly) {
  SimulationOptions options;
  for (const std::string& text : {std::string(1'000'000, 'x'), std::string("\x1b[2J\0\n\xff", 7)}) {
    for (const auto& message :
         {set_option(options, text, "1"), set_option(options, "mtu_bytes", text)}) {
      ASSERT_TRUE(message);
      EXPECT_LT(message->size(), 250U);
      EXPECT_TRUE(std::ranges::all_of(*message, [](char c) { return c >= ' ' && c <= '~'; }));
    }
  }
}

TEST(FindInvalidOption, AcceptsTheDefaults) {
  EXPECT_EQ(find_invalid_option(SimulationOptions{}), std::nullopt);
}

TEST(FindInvalidOption, NamesTheOption) {
  SimulationOptions options;
  options.max_outstanding_reads_and_atomics = 0;
  EXPECT_EQ(find_invalid_option(options),
            "option max_outstanding_reads_and_atomics cannot be '0'; its values: 1 to 255");
  options = {};
  options.granularity = static_cast<Granularity>(9);
  EXPECT_EQ(find_invalid_option(options),
            "option granularity cannot be '9'; its values: byte, word, line, packet");
  options = {};
  options.set_fault_rate(FaultKind::server_restart, largest_number);
  EXPECT_NE(find_invalid_option(options)->find("fault_rate.server_restart"), std::string::npos);
}

TEST(Swarm, DrawsValidOptionsThatKeepTheContract) {
  for (std::uint64_t seed = 0; seed < swarm_size; ++seed) {
    const SimulationOptions options = draw_swarm_options(seed);
    ASSERT_EQ(find_invalid_option(options), std::nullopt) << "seed " << seed;
    ASSERT_NE(options.granularity, Granularity::byte) << "seed " << seed;
    ASSERT_EQ(options.region_ordering, fabric::RegionOrdering::strong) << "seed " << seed;
    ASSERT_EQ(options, draw_swarm_options(seed));
  }
}

// Counts how often each option had each value.
std::map<std::string, std::map<std::string, std::uint64_t>> swarm_counts() {
  std::map<std::string, std::map<std::string, std::uint64_t>> counts;
  for (std::uint64_t seed = 0; seed < swarm_size; ++seed) {
    const SimulationOptions options = draw_swarm_options(seed);
    for (const OptionDescription& option : option_descriptions()) {
      ++counts[option.name][option.get(options)];
    }
  }
  return counts;
}

// The keys of a region stay equal, because they are data of programs: with other keys, seeds would
// have other runs.
TEST(Swarm, KeepsTheKeysOfRegions) {
  auto counts = swarm_counts();
  for (const char* name : {"distinct_keys", "keys_reused_after_restart"}) {
    EXPECT_EQ(counts[name]["false"], swarm_size) << name;
  }
}

// A program that holds with this promise of a device need not hold without it.
TEST(Swarm, CompletesWritesEarly) {
  auto counts = swarm_counts();
  EXPECT_EQ(counts["placed_before_completed"]["false"], swarm_size);
}

// A program that holds where lines are whole need not hold where only words are.
TEST(Swarm, TearsLines) {
  auto counts = swarm_counts();
  EXPECT_EQ(counts["granularity"]["line"], 0U);
}

// Only programs for libibverbs see it, and those that page memory set the option themselves.
TEST(Swarm, PagesNoMemoryOnDemand) {
  auto counts = swarm_counts();
  EXPECT_EQ(counts["on_demand_paging"]["none"], swarm_size);
}

// Clocks stay exact: few programs use wall clocks, and those that do set the options themselves.
TEST(Swarm, HasEachFeatureInAndOut) {
  auto counts = swarm_counts();
  for (const char* name : {"clock_offset_ns", "clock_drift_ppm", "fault_rate.clock_step"}) {
    EXPECT_EQ(counts[name]["0"], swarm_size) << name;
  }
  for (auto& [name, values] : counts) {
    if (!name.starts_with("fault_rate.") || name == "fault_rate.clock_step") continue;
    EXPECT_GT(values["0"], swarm_size / 4) << name;
    EXPECT_LT(values["0"], swarm_size * 4 / 5) << name;
    EXPECT_GT(values.size(), 40U) << name;
  }
  for (const char* name : {"address_order", "failing_cas_writes_back", "processor_preemption",
                           "strategy", "late_visibility", "store_buffers", "failure_before_landing",
                           "bounds_per_packet", "undefined_failure_fields", "granularity",
                           "atomic_capability", "mtu_bytes", "step_duration_ns", "max_inline_bytes",
                           "max_outstanding_reads_and_atomics", "longest_stall_ns", "pct_depth"}) {
    EXPECT_GE(counts[name].size(), 2U) << name;
    for (const auto& [value, count] : counts[name]) {
      EXPECT_GT(count, swarm_size / 10) << name << " " << value;
    }
  }
}

// The shares of the strategies, in eighths (docs/simulator.md).
TEST(Swarm, DrawsTheBetterStrategiesMoreOften) {
  auto shares = swarm_counts()["strategy"];
  const std::map<std::string, double> eighths = {{"random", 3}, {"pct", 2}, {"pos", 3}, {"urw", 0}};
  for (const auto& [strategy, share] : eighths) {
    EXPECT_NEAR(static_cast<double>(shares[strategy]), share / 8 * swarm_size, swarm_size / 50.0)
        << strategy;
  }
}

TEST(Swarm, SpreadsRatesLogarithmically) {
  std::array<int, 3> thirds{};
  for (std::uint64_t seed = 0; seed < swarm_size; ++seed) {
    const std::uint64_t rate = draw_swarm_options(seed).fault_rate(FaultKind::client_pause);
    if (rate == 0) continue;
    ASSERT_GE(rate, 20U);
    ASSERT_LE(rate, 2'000U);
    ++thirds.at(rate < 93 ? 0 : rate < 431 ? 1 : 2);  // thirds of the logarithmic scale
  }
  for (const int count : thirds) EXPECT_NEAR(count, swarm_size / 6.0, swarm_size / 20.0);
}

TEST(FaultKind, HasANameForEachValue) {
  std::set<std::string_view> names;
  for (std::size_t index = 0; index < fault_kind_count; ++index) {
    names.insert(to_string(static_cast<FaultKind>(index)));
  }
  EXPECT_EQ(names.size(), fault_kind_count);
  EXPECT_FALSE(names.contains("unknown"));
}

TEST(OptionsTable, HasARowForEachOption) {
  const std::string table = options_markdown_table();
  for (const OptionDescription& option : option_descriptions()) {
    EXPECT_NE(table.find("| `" + option.name + "` | "), std::string::npos);
  }
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(table, '\n')),
            option_descriptions().size() + 2);
}

}  // namespace
}  // namespace falafel::sim
