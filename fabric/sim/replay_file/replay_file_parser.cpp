// Parses replay files. It checks the frame first, so all other errors concern files that were
// written as they are: by another version of the project, or by an attacker. Within this file,
// errors are exceptions, as in the JSON library; the public function returns them as values.
#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

#include "fabric/sim/replay_file/replay_file.h"
#include "fabric/sim/replay_file/replay_file_frame.h"

namespace falafel::sim {

namespace {

using nlohmann::json;

constexpr std::size_t longest_shown = 80;

[[noreturn]] void fail(const std::string& message) { throw std::runtime_error(message); }

std::string shortened(std::string text) {
  if (text.size() <= longest_shown) return text;
  return text.substr(0, longest_shown) + "...";
}

std::string shown(const json& value) {
  return shortened(value.dump(-1, ' ', true, json::error_handler_t::replace));
}

// Says where the text is not JSON; the parser's own text names its rules.
std::string describe_parse_error(const json::exception& error) {
  const auto* const position = dynamic_cast<const json::parse_error*>(&error);
  if (position == nullptr) return "not valid JSON: a number is too large";
  return fmt::format("not valid JSON: byte {} is unexpected", position->byte);
}

json parse_json(std::string_view text) {
  const auto limit_depth = [](int depth, json::parse_event_t /*event*/, const json& /*value*/) {
    if (depth > replay_file_max_depth) {
      fail(fmt::format("arrays and objects are nested more than {} deep", replay_file_max_depth));
    }
    return true;
  };
  return json::parse(text, limit_depth);
}

const json& field(const json& object, const std::string& name) {
  const auto found = object.find(name);
  if (found == object.end()) fail(fmt::format("missing field \"{}\"", name));
  return *found;
}

std::string string_field(const json& object, const std::string& name) {
  const json& value = field(object, name);
  if (!value.is_string()) fail(fmt::format("{} is {}, not a string", name, shown(value)));
  return value.get<std::string>();
}

const json& object_field(const json& object, const std::string& name) {
  const json& value = field(object, name);
  if (!value.is_object()) fail(fmt::format("{} is {}, not an object", name, shown(value)));
  return value;
}

void check_field_names(const json& document) {
  static constexpr std::array<std::string_view, 9> names = {
      "format",  "version",    "build_identity", "scenario", "scenario_options",
      "options", "trace_hash", "choices",        "checksum"};
  for (const auto& [name, value] : document.items()) {
    if (std::ranges::find(names, name) == names.end()) {
      fail(fmt::format("unknown field {}", shown(name)));
    }
  }
}

void read_option(SimulationOptions& options, const std::string& name, const json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  if (const auto message = set_option(options, name, text)) fail(*message);
  if (value.is_string() && json::accept(text)) {
    fail(fmt::format("option {} is {}; it stands without quotes", name, shown(value)));
  }
}

SimulationOptions read_options(const json& object) {
  SimulationOptions options;
  for (const auto& [name, value] : object.items()) read_option(options, name, value);
  for (const OptionDescription& option : option_descriptions()) {
    if (!option.is_in_every_replay_file) continue;
    if (!object.contains(option.name)) fail(fmt::format("missing option {}", option.name));
  }
  return options;
}

std::uint64_t read_trace_hash(const std::string& text) {
  std::uint64_t hash = 0;
  const char* const end = text.data() + text.size();
  const auto [parsed_end, error] = std::from_chars(text.data(), end, hash, 16);
  if (error != std::errc{} || parsed_end != end || fmt::format("{:016x}", hash) != text) {
    fail(fmt::format("trace_hash is {}, not 16 hexadecimal digits", shown(text)));
  }
  return hash;
}

ChoiceKind read_kind(const std::string& text) {
  for (std::size_t index = 0; index < choice_kind_count; ++index) {
    const auto kind = static_cast<ChoiceKind>(index);
    if (to_string(kind) == text) return kind;
  }
  fail(fmt::format("unknown kind {}", shown(text)));
}

Choice read_choice(const json& entry) {
  const bool has_form = entry.is_array() && entry.size() == 4 && entry[0].is_string() &&
                        entry[1].is_number_unsigned() && entry[2].is_number_unsigned() &&
                        entry[3].is_number_unsigned();
  if (!has_form) {
    fail(fmt::format("{} does not have the form [kind, bound, value, checkpoint]", shown(entry)));
  }
  const auto bound = entry[1].get<std::uint64_t>();
  const auto value = entry[2].get<std::uint64_t>();
  const auto checkpoint = entry[3].get<std::uint64_t>();
  if (bound != 0 && value >= bound) {
    fail(fmt::format("value {} is not below its bound {}", value, bound));
  }
  if (checkpoint > 0xffffU) fail(fmt::format("checkpoint {} exceeds 16 bits", checkpoint));
  return {read_kind(entry[0].get<std::string>()), bound, value,
          static_cast<std::uint16_t>(checkpoint)};
}

std::vector<Choice> read_choices(const json& array) {
  if (!array.is_array()) fail(fmt::format("choices is {}, not an array", shown(array)));
  std::vector<Choice> choices;
  choices.reserve(array.size());
  for (const json& entry : array) {
    try {
      choices.push_back(read_choice(entry));
    } catch (const std::runtime_error& error) {
      fail(fmt::format("choice {}: {}", choices.size(), error.what()));
    }
  }
  return choices;
}

ReplayFile read_document(const json& document) {
  check_field_names(document);
  return {.scenario = string_field(document, "scenario"),
          .scenario_options = object_field(document, "scenario_options"),
          .options = read_options(object_field(document, "options")),
          .choices = read_choices(field(document, "choices")),
          .trace_hash = read_trace_hash(string_field(document, "trace_hash")),
          .build_identity = string_field(document, "build_identity")};
}

}  // namespace

tl::expected<ReplayFile, std::string> parse_replay_file(std::string_view text) {
  if (std::optional<std::string> fault = find_frame_fault(text)) {
    return tl::unexpected<std::string>(*std::move(fault));
  }
  try {
    return read_document(parse_json(text));
  } catch (const json::exception& error) {
    return tl::unexpected(describe_parse_error(error));
  } catch (const std::exception& error) {
    return tl::unexpected<std::string>(error.what());
  }
}

}  // namespace falafel::sim
