// Writes replay files so that people can read and compare them: one option or choice per line.
#include <fmt/format.h>

#include "fabric/assert.h"
#include "fabric/sim/replay_file/replay_file.h"
#include "fabric/sim/replay_file/replay_file_frame.h"

namespace falafel::sim {

namespace {

using nlohmann::json;

std::string to_text(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Numbers and Booleans are not quoted.
std::string option_value(const std::string& text) {
  return json::accept(text) ? text : to_text(text);
}

void append_options(std::string& text, const SimulationOptions& options) {
  text += "  \"options\": {";
  const char* separator = "\n";
  for (const OptionDescription& option : option_descriptions()) {
    text +=
        fmt::format("{}    \"{}\": {}", separator, option.name, option_value(option.get(options)));
    separator = ",\n";
  }
  text += "\n  },\n";
}

void append_choices(std::string& text, const std::vector<Choice>& choices) {
  text += "  \"choices\": [";
  const char* separator = "\n";
  for (const Choice& choice : choices) {
    text += fmt::format("{}    [\"{}\", {}, {}, {}]", separator, to_string(choice.kind),
                        choice.bound, choice.value, choice.checkpoint);
    separator = ",\n";
  }
  text += "\n  ],\n";
}

}  // namespace

std::string serialize(const ReplayFile& file) {
  FALAFEL_ASSERT(file.scenario_options.is_object(), "scenario options are a JSON {}",
                 file.scenario_options.type_name());
  std::string text = replay_file_head();
  text += fmt::format(
      "  \"build_identity\": {},\n  \"scenario\": {},\n  \"scenario_options\": {},\n",
      to_text(file.build_identity), to_text(file.scenario), to_text(file.scenario_options));
  append_options(text, file.options);
  text += fmt::format("  \"trace_hash\": \"{:016x}\",\n", file.trace_hash);
  append_choices(text, file.choices);
  seal_replay_file(text);
  return text;
}

}  // namespace falafel::sim
