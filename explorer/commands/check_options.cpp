#include "explorer/commands/check_options.h"

#include <fmt/format.h>

#include <limits>

#include "checkers/formats/loaded_specification.h"
#include "checkers/formats/specification_judge.h"

namespace falafel::command_line {

namespace {

// Refuses the options about the object if the format has an object of its own.
void require_free_object(const CheckOptions& options) {
  const bool has_specification =
      options.format == jepsen_format || options.format == specification_format;
  const bool is_library = checkers::formats::is_library_path(options.specification);
  if (is_library && !has_specification) {
    throw CLI::ValidationError("--specification",
                               "only the formats jepsen and specification take a library");
  }
  if (!options.specification.empty() && !is_library && options.format != jepsen_format) {
    throw CLI::ValidationError("--specification",
                               "only histories in the format jepsen leave the specification open");
  }
  if (options.initial && !has_specification) {
    throw CLI::ValidationError("--initial",
                               "only the formats jepsen and specification have initial values");
  }
}

void load_library(CheckOptions& options) {
  if (!checkers::formats::is_library_path(options.specification)) return;
  const auto loaded = checkers::formats::load_specification(options.specification);
  if (!loaded) throw CLI::ValidationError("--specification", loaded.error());
  options.library = *loaded;
}

void add_object_options(CLI::App& command, CheckOptions& options) {
  command
      .add_option(
          "--specification", options.specification,
          "with --format jepsen: what the object is; default: as the functions suggest. Also "
          "a shared library with a specification of your own: a path with a slash")
      ->type_name("NAME|LIBRARY")
      ->check([](const std::string& text) {
        if (checkers::formats::is_library_path(text)) return std::string();
        return checkers::formats::refuse_specification(text).value_or("");
      });
  command
      .add_option_function<std::string>(
          "--initial",
          [&options](const std::string& text) {
            options.initial = nlohmann::json::parse(text, nullptr, false);
            if (!options.initial->is_discarded()) return;
            throw CLI::ValidationError("--initial", fmt::format("{} is not JSON", text));
          },
          "state of each object before the first operation, as JSON; with the formats jepsen and "
          "specification")
      ->type_name("JSON");
}

}  // namespace

void add_check_options(CLI::App& command, CheckOptions& options) {
  command.add_option("files", options.files, "histories; -: standard input")
      ->required()
      ->type_name("FILE");
  command
      .add_option("--format", options.format,
                  "format of the files: jsonl, jepsen, jepsen-register, kv-log, specification")
      ->required()
      ->check(
          CLI::IsMember({"jsonl", jepsen_format, "jepsen-register", "kv-log", specification_format})
              .description(""));
  add_object_options(command, options);
  command
      .add_option("--page", options.page, "write a page that shows the history; with one file only")
      ->type_name("FILE");
  command
      .add_option("--steps", options.steps, "maximum number of search steps, which bounds the time")
      ->check(CLI::Range(std::uint64_t{1}, std::numeric_limits<std::uint64_t>::max()))
      ->capture_default_str();
  command
      .add_option("--memory-mib", options.memory_mib,
                  "limit of the program's resident memory; a history may take half of it")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20U))
      ->capture_default_str();
  command.add_flag("--json", options.prints_json, "print the results as JSON");
  command.footer(
      "Exit status: 0 linearizable, 1 not linearizable, 2 unreadable, 4 unknown (a limit was\n"
      "reached), 5 nothing judged (no operation has an answer). With several files, the first of\n"
      "1, 2, 4, 5, 0 that applies.");
}

void complete(CheckOptions& options) {
  if (!options.page.empty() && options.files.size() != 1) {
    throw CLI::ValidationError("--page", "a page shows one history; name one file");
  }
  require_free_object(options);
  load_library(options);
}

}  // namespace falafel::command_line
