// Reference data for the tests of the page, produced without the timeline: the simulator's memory
// after each step. It also writes a page with malicious keys and values.
//
//   timeline_fixtures memory REPLAY_FILE    prints the memory after each step, as JSON
//   timeline_fixtures hostile PAGE          writes the page
//   timeline_fixtures counter PAGE          writes a page of a program that is not the store
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "checkers/memory_view.h"
#include "explorer/failing_run.h"
#include "explorer/replay.h"
#include "explorer/timeline/readable.h"
#include "explorer/timeline/record.h"
#include "fabric/sim/strategies/replay_strategy.h"
#include "tests/timeline/counter_world.h"
#include "tests/timeline/hostile_timeline.h"
#include "tools/scenarios/store/program.h"
#include "tools/scenarios/store/run.h"

namespace falafel::timeline {
namespace {

class MemoryDump final : public store_scenario::RunListener {
 public:
  void on_memory(std::uint64_t step, const checkers::MemoryView* memory) override {
    if (memory != nullptr) json_.push_back(describe(step, *memory));
  }
  void on_call(const checkers::Operation&) override {}
  void on_return(const checkers::Operation&, engine::Answer) override {}
  void observe(const sim::TraceEvent&) override {}

  const nlohmann::json& json() const { return json_; }

 private:
  static nlohmann::json describe(std::uint64_t step, const checkers::MemoryView& memory) {
    nlohmann::json slots = nlohmann::json::array();
    for (std::uint64_t slot = 0; slot < memory.geometry.table_entries; ++slot) {
      const engine::Entry entry = memory.entry(slot);
      const auto stored = entry.is_empty() ? std::nullopt : checkers::read_stored(memory, entry);
      slots.push_back({{"entry", checkers::describe(entry, memory.geometry)},
                       {"key", stored ? stored->key : ""},
                       {"value", stored ? readable(stored->value) : ""}});
    }
    nlohmann::json regions = nlohmann::json::array();
    for (const auto& region : memory.regions) regions.push_back(to_string(region.state));
    return {{"before_step", step}, {"slots", slots}, {"regions", regions}};
  }

  nlohmann::json json_ = nlohmann::json::array();
};

int print_memory(const std::string& path) {
  const auto replay = explorer::load_replay(store_scenario::StoreProgram(), path);
  if (!replay) {
    fmt::print(stderr, "{}\n", replay.error());
    return 2;
  }
  store_scenario::Runner runner;
  MemoryDump dump;
  sim::ReplayStrategy strategy(replay->file.choices);
  runner.run(*replay->scenario, strategy, &dump);
  fmt::print("{}\n", dump.json().dump());
  return 0;
}

int write_hostile(const std::string& path) {
  const auto written = write_page(hostile_timeline(), path);
  if (!written) fmt::print(stderr, "{}\n", written.error());
  return written ? 0 : 2;
}

// A run that loses an update.
int write_counter(const std::string& path) {
  const auto program = counter_program();
  const auto runner = program->create_runner();
  std::uint64_t seed = 1;
  const auto run = [&] {
    const auto scenario = program->draw(seed);
    return explorer::record(*runner, *scenario, *explorer::make_seeded_strategy(*scenario, seed));
  };
  explorer::FailingRun failing = run();
  for (; failing.run.violations.empty(); failing = run()) ++seed;
  const auto recorded = record_timeline(*runner, *failing.scenario, failing.choices);
  const auto written = write_page(recorded.timeline, path);
  if (!written) fmt::print(stderr, "{}\n", written.error());
  return written ? 0 : 2;
}

}  // namespace
}  // namespace falafel::timeline

int main(int argument_count, char** arguments) {
  using namespace std::string_view_literals;
  if (argument_count == 3 && arguments[1] == "memory"sv) {
    return falafel::timeline::print_memory(arguments[2]);
  }
  if (argument_count == 3 && arguments[1] == "hostile"sv) {
    return falafel::timeline::write_hostile(arguments[2]);
  }
  if (argument_count == 3 && arguments[1] == "counter"sv) {
    return falafel::timeline::write_counter(arguments[2]);
  }
  fmt::print(stderr, "timeline_fixtures memory REPLAY_FILE | hostile PAGE | counter PAGE\n");
  return 2;
}
