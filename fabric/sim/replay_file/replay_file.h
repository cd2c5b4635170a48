// Replay files: a recorded run as text, to be repeated elsewhere. The format: docs/replay-file.md.
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

// How deep arrays and objects may be nested in a replay file. They are copied, compared and written
// by recursion, which a hostile file must not lead too deep.
inline constexpr int replay_file_max_depth = 32;

struct ReplayFile {
  std::string scenario;
  // What the scenario was called with, for the program that recorded it. An object, nested at most
  // replay_file_max_depth - 1 deep.
  nlohmann::json scenario_options = nlohmann::json::object();
  SimulationOptions options;
  std::vector<Choice> choices;
  std::uint64_t trace_hash = 0;
  std::string build_identity;  // what recorded it, for people

  friend bool operator==(const ReplayFile&, const ReplayFile&) = default;
};

// The same for equal contents. Strings are UTF-8; what is not is replaced by U+FFFD.
std::string serialize(const ReplayFile& file);

// The contents, or what is wrong with the text. Any text is allowed. What parses has valid options,
// and choices whose values are below their bounds.
tl::expected<ReplayFile, std::string> parse_replay_file(std::string_view text);

// With the path in front of all messages.
tl::expected<ReplayFile, std::string> load_replay_file(const std::string& path);
tl::expected<void, std::string> save_replay_file(const ReplayFile& file, const std::string& path);

}  // namespace falafel::sim
