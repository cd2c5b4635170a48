// A replay file holds a recorded run as text, so that it can be repeated elsewhere.
// docs/replay-file.md describes the format.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "fabric/sim/options/options.h"
#include "fabric/sim/strategies/recording_strategy.h"

namespace falafel::sim {

// How deeply a replay file may nest arrays and objects. Copying, comparing and writing them
// recurses, and a hostile file must not exhaust the stack.
inline constexpr int replay_file_max_depth = 32;

struct ReplayFile {
  std::string scenario;
  // The arguments of the scenario, for the program that recorded it: an object, nested at most
  // replay_file_max_depth - 1 deep.
  nlohmann::json scenario_options = nlohmann::json::object();
  SimulationOptions options;
  std::vector<Choice> choices;
  std::uint64_t trace_hash = 0;
  std::string build_identity;  // the program that recorded it, for people

  friend bool operator==(const ReplayFile&, const ReplayFile&) = default;
};

// Equal contents give equal text. Strings are UTF-8; invalid bytes become U+FFFD.
std::string serialize(const ReplayFile& file);

// Returns the contents, or a message about what is wrong with the text. Accepts any text. The
// options of the result are valid, and its choices are below their bounds.
tl::expected<ReplayFile, std::string> parse_replay_file(std::string_view text);

// Messages begin with the path.
tl::expected<ReplayFile, std::string> load_replay_file(const std::string& path);
tl::expected<void, std::string> save_replay_file(const ReplayFile& file, const std::string& path);

}  // namespace falafel::sim
