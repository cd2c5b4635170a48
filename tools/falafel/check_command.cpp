// falafel check: judges histories recorded by any system.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "checkers/formats/json_format.h"
#include "checkers/formats/recorded_history.h"
#include "checkers/linearizability.h"
#include "tools/falafel/commands.h"

namespace falafel::command_line {

namespace {

using checkers::LinearizabilityReport;
using checkers::Verdict;
using checkers::formats::Format;
using checkers::formats::ReadError;
using checkers::formats::RecordedHistory;
using Json = nlohmann::ordered_json;

constexpr int status_unreadable = 2;

const std::map<std::string, Format> format_names = {{"jsonl", Format::json_lines},
                                                    {"jepsen-register", Format::jepsen_register},
                                                    {"kv-log", Format::kv_log}};

struct CheckOptions {
  Format format = Format::json_lines;
  std::vector<std::string> files;
  std::uint64_t steps = 500'000'000;
  std::uint64_t memory_mib = 1'024;
  bool prints_json = false;
};

int status_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds: return 0;
    case Verdict::violated: return 1;
    case Verdict::unknown: return 4;
  }
  return status_unreadable;
}

int worse_status(int left, int right) {
  static constexpr std::array worst_first = {1, status_unreadable, 4, 0};
  return *std::ranges::find_if(worst_first,
                               [&](int status) { return status == left || status == right; });
}

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds: return "linearizable";
    case Verdict::violated: return "not linearizable";
    case Verdict::unknown: return "unknown";
  }
  return "unknown";
}

// "-" stands for standard input.
tl::expected<RecordedHistory, ReadError> read_file(const std::string& path,
                                                   const CheckOptions& options) {
  const checkers::formats::ReadLimits limits{.history_bytes = options.memory_mib << 20U};
  if (path == "-") return checkers::formats::read_history(std::cin, options.format, limits);
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return tl::unexpected(ReadError{
        1, fmt::format("cannot open the file: {}", std::generic_category().message(errno))});
  }
  return checkers::formats::read_history(file, options.format, limits);
}

Json operations_to_json(const RecordedHistory& recorded,
                        const std::vector<std::size_t>& positions) {
  Json operations = Json::array();
  for (const std::size_t position : positions) {
    operations.push_back(checkers::formats::operation_to_json(recorded.operations[position]));
  }
  return operations;
}

Json report_to_json(const std::string& path, const RecordedHistory& recorded,
                    const LinearizabilityReport& report) {
  Json object;
  object["file"] = path;
  object["verdict"] = name_of(report.judgement.verdict);
  object["operations"] = recorded.operations.size();
  object["steps"] = report.steps;
  if (report.judgement.verdict == Verdict::holds) return object;
  object["key"] = checkers::formats::bytes_to_json(report.key);
  object["explanation"] = report.judgement.explanation;
  if (report.judgement.verdict == Verdict::unknown) return object;
  object["longest_prefix"] = operations_to_json(recorded, report.longest_prefix);
  object["unfitting"] = operations_to_json(recorded, report.unfitting);
  return object;
}

void print_report(const std::string& path, const RecordedHistory& recorded,
                  const LinearizabilityReport& report) {
  fmt::print("{}: {} ({} operations)\n", path, name_of(report.judgement.verdict),
             recorded.operations.size());
  if (report.judgement.verdict == Verdict::holds) return;
  const bool ends_line = report.judgement.explanation.ends_with('\n');
  fmt::print("{}{}", report.judgement.explanation, ends_line ? "" : "\n");
}

class Check {
 public:
  explicit Check(const CheckOptions& options) : options_(options) {}

  // Returns the exit status.
  int run() {
    int status = 0;
    for (const std::string& path : options_.files) status = worse_status(status, judge(path));
    if (options_.prints_json) {
      fmt::print("{}\n", results_.dump(2, ' ', false, Json::error_handler_t::replace));
    }
    return status;
  }

 private:
  int judge(const std::string& path) {
    const auto recorded = read_file(path, options_);
    if (!recorded) {
      refuse(path, recorded.error());
      return status_unreadable;
    }
    checkers::LinearizabilityChecker checker(
        recorded->model, {.steps = options_.steps, .memory_bytes = options_.memory_mib << 20U});
    const LinearizabilityReport report =
        checker.report(recorded->operations, std::numeric_limits<std::size_t>::max());
    if (options_.prints_json) {
      results_.push_back(report_to_json(path, *recorded, report));
    } else {
      print_report(path, *recorded, report);
    }
    return status_of(report.judgement.verdict);
  }

  void refuse(const std::string& path, const ReadError& error) {
    fmt::print(stderr, "{}:{}: {}\n", path, error.line, error.message);
    if (!options_.prints_json) return;
    results_.push_back({{"file", path},
                        {"verdict", "unreadable"},
                        {"line", error.line},
                        {"message", error.message}});
  }

  const CheckOptions& options_;
  Json results_ = Json::array();
};

}  // namespace

void add_check_command(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<CheckOptions>();
  CLI::App* const command =
      app.add_subcommand("check", "check whether recorded histories are linearizable");
  command->add_option("files", options->files, "histories; -: standard input")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--format", options->format,
                   "format of the files: jsonl, jepsen-register, kv-log")
      ->required()
      ->transform(CLI::CheckedTransformer(format_names).description(""));
  command
      ->add_option("--steps", options->steps,
                   "maximum number of search steps, which bounds the time")
      ->check(CLI::Range(std::uint64_t{1}, std::numeric_limits<std::uint64_t>::max()))
      ->capture_default_str();
  command
      ->add_option("--memory-mib", options->memory_mib,
                   "memory limit for the history and for the search, each")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 20U))
      ->capture_default_str();
  command->add_flag("--json", options->prints_json, "print the results as JSON");
  command->footer(
      "Exit status: 0 linearizable, 1 not linearizable, 2 unreadable, 4 unknown (a limit was\n"
      "reached). With several files, the first of 1, 2, 4, 0 that applies.");
  command->callback([options, &exit_status] { exit_status = Check(*options).run(); });
}

}  // namespace falafel::command_line
