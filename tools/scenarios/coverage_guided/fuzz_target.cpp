// The libFuzzer target. The input bytes are a schedule of the store: the first two select the
// scenario, and the others answer the simulator's questions. A violation is saved as a replay file
// and ends the process, so that libFuzzer also keeps the bytes.
//
// libFuzzer leaves arguments that begin with two dashes to the target:
//   --without=SAFEGUARD   switches off a safeguard (may be repeated)
//   --output=FOLDER       directory for replay files (default: the current one)
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "explorer/byte_strategy.h"
#include "explorer/replay.h"
#include "fabric/fiber_stack.h"
#include "tools/scenarios/store/program.h"
#include "tools/scenarios/store/run.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {
namespace {

constexpr int status_wrong_usage = 2;

class FuzzTarget {
 public:
  explicit FuzzTarget(std::span<char*> arguments) {
    choices_.tag_worlds = Share::none;  // the bytes determine the schedule
    for (const std::string_view argument : arguments) read_argument(argument);
  }

  void run(std::span<const std::uint8_t> bytes) {
    std::array<std::uint8_t, 2> seed{};
    const std::size_t seed_bytes = std::min(seed.size(), bytes.size());
    std::copy_n(bytes.begin(), seed_bytes, seed.begin());
    const Scenario scenario = draw_scenario(choices_, std::uint64_t{seed[0]} << 8 | seed[1]);
    const std::span<const std::uint8_t> answers = bytes.subspan(seed_bytes);
    explorer::ByteStrategy strategy(answers);
    if (!runner_.run(scenario, strategy).violations.empty()) report(scenario, answers);
  }

 private:
  void read_argument(std::string_view argument) {
    constexpr std::string_view without = "--without=";
    constexpr std::string_view output = "--output=";
    if (argument.starts_with(without)) {
      switch_off(argument.substr(without.size()));
    } else if (argument.starts_with(output)) {
      output_ = argument.substr(output.size());
    } else if (argument.starts_with("--")) {
      refuse(argument, "use --without=SAFEGUARD or --output=FOLDER");
    }
  }

  void switch_off(std::string_view name) {
    for (const auto& safeguard : engine::safeguard_descriptions) {
      if (safeguard.name != name) continue;
      choices_.safeguards.*safeguard.enabled = false;
      return;
    }
    refuse(name, "unknown safeguard; falafel ablate lists them");
  }

  [[noreturn]] static void refuse(std::string_view text, std::string_view problem) {
    fmt::print(stderr, "{}: {}\n", text, problem);
    std::exit(status_wrong_usage);
  }

  // Runs the same bytes again and records the run.
  [[noreturn]] void report(const Scenario& scenario, std::span<const std::uint8_t> answers) {
    explorer::ByteStrategy strategy(answers);
    const explorer::FailingRun failing = explorer::record(runner_, scenario, strategy);
    const std::string property = failing.run.property();
    const std::string path =
        (output_ / fmt::format("{}-{:016x}.replay", property, failing.run.result.trace_hash))
            .string();
    fmt::print(stderr, "VIOLATED {}: {}\n", property, failing.run.violations.front().explanation);
    const auto saved =
        sim::save_replay_file(explorer::to_replay_file(StoreProgram(), failing), path);
    if (saved) {
      fmt::print(stderr,
                 "Shrink and replay it with:\n  falafel shrink {0} --output {0}\n  "
                 "falafel replay {0}\n",
                 path);
    } else {
      fmt::print(stderr, "{}\n", saved.error());
    }
    std::abort();
  }

  ScenarioChoices choices_;
  std::filesystem::path output_;
  Runner runner_;
};

// libFuzzer calls free functions without a context argument.
std::unique_ptr<FuzzTarget>& target() {
  static std::unique_ptr<FuzzTarget> instance;
  return instance;
}

}  // namespace
}  // namespace falafel::store_scenario

extern "C" int LLVMFuzzerInitialize(int* argument_count, char*** arguments) {
  falafel::store_scenario::target() = std::make_unique<falafel::store_scenario::FuzzTarget>(
      std::span(*arguments + 1, static_cast<std::size_t>(*argument_count - 1)));
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  falafel::store_scenario::target()->run({data, size});
  return 0;
}
