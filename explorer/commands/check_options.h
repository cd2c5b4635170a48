// The options of the command check.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "checkers/specification_library.h"

namespace falafel::command_line {

// The formats of histories of any specification. In the first, the history names it.
inline constexpr const char* specification_format = "specification";
inline constexpr const char* jepsen_format = "jepsen";

struct CheckOptions {
  std::string format;  // specification_format, jepsen_format, or one with an object of its own
  std::string specification;  // a name or the path of a library; empty: the history selects it
  const falafel_specification* library = nullptr;  // of a path
  std::optional<nlohmann::json> initial;  // nullopt: as the specification or the history says
  std::string page;                       // file to write; empty: none
  std::vector<std::string> files;
  std::uint64_t steps = 500'000'000;
  std::uint64_t memory_mib = 1'024;
  bool prints_json = false;
};

// The options must outlive the parsing.
void add_check_options(CLI::App& command, CheckOptions& options);

// Refuses options that do not fit each other, and loads the library. Throws CLI::ValidationError.
void complete(CheckOptions& options);

}  // namespace falafel::command_line
