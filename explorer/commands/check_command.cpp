// The command check: judges histories that any system recorded.
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
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "checkers/formats/history_page.h"
#include "checkers/formats/jepsen_history.h"
#include "checkers/formats/json_format.h"
#include "checkers/formats/recorded_history.h"
#include "checkers/formats/specification_judge.h"
#include "checkers/formats/specification_lines.h"
#include "checkers/linearizability.h"
#include "explorer/commands/check_options.h"
#include "explorer/commands/commands.h"
#include "explorer/commands/system_memory.h"

namespace falafel::command_line {

namespace {

using checkers::LinearizabilityReport;
using checkers::Verdict;
using checkers::formats::Format;
using checkers::formats::JudgedHistory;
using checkers::formats::ReadError;
using checkers::formats::RecordedHistory;
using Json = nlohmann::ordered_json;

constexpr int status_unreadable = 2;
constexpr int status_unknown = 4;
constexpr int status_nothing_judged = 5;

const std::map<std::string, Format> format_names = {{"jsonl", Format::json_lines},
                                                    {"jepsen-register", Format::jepsen_register},
                                                    {"kv-log", Format::kv_log}};

// Without a judged operation, nothing is known of the object.
bool is_empty_success(const LinearizabilityReport& report) {
  return report.judgement.verdict == Verdict::holds && report.judged == 0;
}

int status_of(const LinearizabilityReport& report) {
  if (is_empty_success(report)) return status_nothing_judged;
  switch (report.judgement.verdict) {
    case Verdict::holds: return 0;
    case Verdict::violated: return 1;
    case Verdict::unknown: return status_unknown;
  }
  return status_unreadable;
}

int worse_status(int left, int right) {
  static constexpr std::array worst_first = {1, status_unreadable, status_unknown,
                                             status_nothing_judged, 0};
  return *std::ranges::find_if(worst_first,
                               [&](int status) { return status == left || status == right; });
}

std::string_view name_of(const LinearizabilityReport& report) {
  if (is_empty_success(report)) return "nothing judged";
  switch (report.judgement.verdict) {
    case Verdict::holds: return "linearizable";
    case Verdict::violated: return "not linearizable";
    case Verdict::unknown: return "unknown";
  }
  return "unknown";
}

// Calls `read` with the file. "-" stands for standard input.
template <typename Result, typename Read>
tl::expected<Result, ReadError> read_file(const std::string& path, Read read) {
  if (path == "-") return read(std::cin);
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return tl::unexpected(ReadError{
        1, fmt::format("cannot open the file: {}", std::generic_category().message(errno))});
  }
  return read(file);
}

// For the page.
JudgedHistory as_judged(const RecordedHistory& recorded, const LinearizabilityReport& report) {
  JudgedHistory judged{.specification = "key-value store", .operations = {}, .report = report};
  for (const checkers::Operation& operation : recorded.operations) {
    checkers::formats::JudgedOperation shown{.client = operation.client,
                                             .text = checkers::describe(operation),
                                             .call_time = operation.call_time};
    const bool returns = operation.answer != checkers::Answer::indeterminate &&
                         operation.answer != checkers::Answer::refused;
    if (returns) shown.return_time = operation.return_time;
    judged.operations.push_back(std::move(shown));
  }
  return judged;
}

Json operations_to_json(const JudgedHistory& judged, const std::vector<std::size_t>& positions) {
  Json operations = Json::array();
  for (const std::size_t position : positions) {
    const checkers::formats::JudgedOperation& operation = judged.operations[position];
    Json object = {
        {"client", operation.client}, {"operation", operation.text}, {"call", operation.call_time}};
    if (operation.return_time) object["return"] = *operation.return_time;
    operations.push_back(std::move(object));
  }
  return operations;
}

Json operations_to_json(const RecordedHistory& recorded,
                        const std::vector<std::size_t>& positions) {
  Json operations = Json::array();
  for (const std::size_t position : positions) {
    operations.push_back(checkers::formats::operation_to_json(recorded.operations[position]));
  }
  return operations;
}

template <typename History>
Json report_to_json(const std::string& path, const History& recorded,
                    const LinearizabilityReport& report) {
  Json object;
  object["file"] = path;
  object["verdict"] = name_of(report);
  object["operations"] = recorded.operations.size();
  object["judged"] = report.judged;
  object["steps"] = report.steps;
  if (report.judgement.verdict == Verdict::holds) return object;
  object["key"] = checkers::formats::bytes_to_json(report.key);
  object["explanation"] = report.judgement.explanation;
  if (report.judgement.verdict == Verdict::unknown) return object;
  object["longest_prefix"] = operations_to_json(recorded, report.longest_prefix);
  object["unfitting"] = operations_to_json(recorded, report.unfitting);
  return object;
}

void print_report(const std::string& path, std::size_t operations,
                  const LinearizabilityReport& report) {
  fmt::print("{}: {} ({} operations)\n", path, name_of(report), operations);
  if (is_empty_success(report)) {
    fmt::print(
        "No operation has an answer that says anything about the object: all were refused, failed "
        "or never returned. Record operations that succeed.\n");
  }
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
    for (const std::string& path : options_.files) {
      status = worse_status(status, judge_within_memory(path));
    }
    if (options_.prints_json) {
      fmt::print("{}\n", results_.dump(2, ' ', false, Json::error_handler_t::replace));
    }
    return status;
  }

 private:
  // The memory may also end before its limit, for example in a container.
  int judge_within_memory(const std::string& path) {
    try {
      memory_.release_free();  // the memory of the previous file
      return judge(path);
    } catch (const std::bad_alloc&) {
      return refuse(path, {.line = 0,
                           .message = fmt::format("the system denied memory below the limit of {} "
                                                  "MiB; check a part of the history",
                                                  options_.memory_mib),
                           .reached_limit = true});
    }
  }

  int judge(const std::string& path) {
    if (!format_names.contains(options_.format)) return judge_specification(path);
    const auto recorded = read_file<RecordedHistory>(path, [&](std::istream& input) {
      return checkers::formats::read_history(input, format_names.at(options_.format),
                                             read_limits());
    });
    if (!recorded) {
      return refuse(path, recorded.error());
    }
    checkers::LinearizabilityChecker checker(recorded->model, limits());
    const LinearizabilityReport report =
        checker.report(recorded->operations, std::numeric_limits<std::size_t>::max());
    if (!write_page(path, as_judged(*recorded, report))) return status_unreadable;
    return report_of(path, *recorded, report);
  }

  int judge_specification(const std::string& path) {
    const auto judged = read_file<JudgedHistory>(path, [&](std::istream& input) {
      if (options_.format == jepsen_format) {
        const falafel_specification* const library = options_.library;
        return checkers::formats::judge_jepsen_history(
            input, library != nullptr ? library->name : options_.specification, read_limits(),
            settings());
      }
      return checkers::formats::judge_specification_lines(input, read_limits(), settings());
    });
    if (!judged) {
      return refuse(path, judged.error());
    }
    if (!write_page(path, *judged)) return status_unreadable;
    return report_of(path, *judged, judged->report);
  }

  template <typename History>
  int report_of(const std::string& path, const History& history,
                const LinearizabilityReport& report) {
    if (options_.prints_json) {
      results_.push_back(report_to_json(path, history, report));
    } else {
      print_report(path, history.operations.size(), report);
    }
    return status_of(report);
  }

  // Returns whether the page is written, or none is wanted.
  bool write_page(const std::string& path, const JudgedHistory& judged) const {
    if (options_.page.empty()) return true;
    std::ofstream file(options_.page, std::ios::binary);
    file << checkers::formats::history_page(path, judged);
    file.close();
    if (file) return true;
    fmt::print(stderr, "cannot write {}: {}\n", options_.page,
               std::generic_category().message(errno));
    return false;
  }

  // Judging a history needs at most as much memory as reading it, even if there is no search.
  checkers::formats::ReadLimits read_limits() {
    const std::size_t most_bytes = options_.memory_mib << 19U;
    return {.history_bytes = most_bytes, .process_memory = &memory_, .resident_bytes = most_bytes};
  }
  checkers::LinearizabilityLimits limits() {
    return {.steps = options_.steps,
            .memory_bytes = options_.memory_mib << 20U,
            .process_memory = &memory_};
  }

  checkers::formats::JudgeSettings settings() {
    return {.limits = limits(), .initial = options_.initial, .library = options_.library};
  }

  // Returns the exit status.
  int refuse(const std::string& path, const ReadError& error) {
    const std::string_view verdict = error.reached_limit ? "unknown" : "unreadable";
    fmt::print(stderr, "{}:{}: {}{}\n", path, error.line, error.reached_limit ? "unknown: " : "",
               error.message);
    if (options_.prints_json) {
      results_.push_back(
          {{"file", path}, {"verdict", verdict}, {"line", error.line}, {"message", error.message}});
    }
    return error.reached_limit ? status_unknown : status_unreadable;
  }

  const CheckOptions& options_;
  SystemMemory memory_;
  Json results_ = Json::array();
};

}  // namespace

void add_check_command(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<CheckOptions>();
  CLI::App* const command =
      app.add_subcommand("check", "check whether recorded histories are linearizable");
  add_check_options(*command, *options);
  command->callback([options, &exit_status] {
    complete(*options);
    exit_status = Check(*options).run();
  });
}

}  // namespace falafel::command_line
