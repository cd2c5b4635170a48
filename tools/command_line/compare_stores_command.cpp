// falafel compare-stores: all stores under one workload, on one simulated card.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/benchmarks/compare_stores/report.h"
#include "tools/command_line/commands.h"

namespace falafel::command_line {
namespace {

constexpr int comparison_failed = 1;
constexpr int comparison_wrong_usage = 2;

struct ComparisonOptions {
  std::string card = "connectx3-qdr";
  std::string workload = "ycsb-b";
  std::string distribution;
  std::vector<std::string> stores;  // empty: all
  std::string part = "all";
  compare_stores::Load load;
  double seconds = 0.02;
  std::uint32_t moments = 40;
  bool json = false;
  std::string svg;  // empty: none
};

std::vector<compare_stores::ComparedStore> chosen_stores(const ComparisonOptions& options) {
  std::vector<compare_stores::ComparedStore> all = compare_stores::all_stores();
  if (options.stores.empty()) return all;
  std::erase_if(all, [&](const compare_stores::ComparedStore& store) {
    return std::ranges::find(options.stores, store.name) == options.stores.end();
  });
  return all;
}

std::set<std::string> names_of_stores() {
  std::set<std::string> names;
  for (const compare_stores::ComparedStore& store : compare_stores::all_stores()) {
    names.emplace(store.name);
  }
  return names;
}

// Fills in the workload. Returns an error message if an option is invalid.
std::optional<std::string> complete_comparison(ComparisonOptions& options) {
  const auto workload = store_benchmark::find_workload(options.workload);
  if (!workload) return fmt::format("--workload: {}", workload.error());
  options.load.workload = *workload;
  if (!options.distribution.empty()) {
    options.load.workload.distribution = *store_benchmark::find_distribution(options.distribution);
  }
  options.load.duration_ns = static_cast<std::uint64_t>(options.seconds * 1e9);
  const std::string problem = compare_stores::find_invalid_option(options.load);
  return problem.empty() ? std::nullopt : std::optional(problem);
}

std::string comparison_text(const ComparisonOptions& options,
                            const std::vector<compare_stores::ReportRow>& rows) {
  if (options.part == "costs") return costs_text(rows);
  if (options.part == "client-death") return client_deaths_text(rows);
  if (options.part == "findings") return findings_text(rows);
  return fmt::format(
      "{}\nA client dies in the middle of a SET; another one goes on:\n\n{}\nWhat holds:\n\n{}",
      costs_text(rows), client_deaths_text(rows), findings_text(rows));
}

int refuse_comparison(int status, const std::string& problem) {
  fmt::print(stderr, "falafel compare-stores: {}\n", problem);
  return status;
}

bool wants(const ComparisonOptions& options, std::string_view part) {
  return options.part == "all" || options.part == part || options.json;
}

compare_stores::ReportRow compare_store(const ComparisonOptions& options,
                                        const sim::timing::Profile& card,
                                        const compare_stores::ComparedStore& store) {
  const auto skipped = tl::unexpected(std::string("not measured"));
  compare_stores::ReportRow row{.store = store, .measured = skipped, .death = skipped};
  if (wants(options, "costs") || !options.svg.empty()) {
    row.measured = compare_stores::measure(card, store, options.load);
  }
  if (wants(options, "client-death")) {
    row.death = compare_stores::let_clients_die(card, store, options.moments);
  }
  return row;
}

int compare(ComparisonOptions& options) {
  if (const auto problem = complete_comparison(options)) {
    return refuse_comparison(comparison_wrong_usage, *problem);
  }
  const auto card = sim::timing::find_or_read_profile(options.card);
  if (!card) {
    return refuse_comparison(comparison_wrong_usage, fmt::format("--card: {}", card.error()));
  }
  std::vector<compare_stores::ReportRow> rows;
  for (const compare_stores::ComparedStore& store : chosen_stores(options)) {
    rows.push_back(compare_store(options, *card, store));
  }
  if (options.json) {
    fmt::print("{}\n", compare_stores::to_json(rows).dump(2));
  } else {
    fmt::print("{}", comparison_text(options, rows));
  }
  if (options.svg.empty()) return 0;
  const auto problem = compare_stores::draw(
      rows,
      fmt::format("{}, {} clients, {}", options.workload, options.load.demand.clients, card->title),
      options.svg);
  return problem ? refuse_comparison(comparison_failed, "--svg: " + *problem) : 0;
}

void add_load_options(CLI::App& command, ComparisonOptions& options) {
  compare_stores::Load& load = options.load;
  command.add_option("--workload", options.workload, "ycsb-a, ycsb-b, ycsb-c, ycsb-f or thesis")
      ->capture_default_str();
  command
      .add_option("--distribution", options.distribution,
                  "key distribution: uniform, zipfian, working-set or loop (default: the "
                  "workload's)")
      ->check(CLI::IsMember({"uniform", "zipfian", "working-set", "loop"}));
  command.add_option("--clients", load.demand.clients, "number of clients")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  command
      .add_option("--nodes", load.machines,
                  "number of machines that the clients are distributed among")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  command.add_option("--keys", load.demand.keys, "number of keys stored before the run")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  command.add_option("--key-bytes", load.demand.key_bytes, "length of a key in bytes")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  command.add_option("--value-bytes", load.demand.value_bytes, "length of a value in bytes")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command
      .add_option("--load", load.demand.table_load, "share of the table's slots that the keys use")
      ->check(CLI::Range(0.01, 0.9))
      ->capture_default_str();
  command.add_option("--seconds", options.seconds, "duration of the run in simulated time")
      ->check(CLI::Range(0.0001, 10.0))
      ->capture_default_str();
  command.add_option("--seed", load.seed, "seed of the operations")->capture_default_str();
}

}  // namespace

void add_compare_stores_command(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<ComparisonOptions>();
  CLI::App* const command = app.add_subcommand(
      "compare-stores", "predict what each store needs for a workload on a card, side by side");
  command->add_option("--card", options->card, "the card; a file, or a name of docs/performance.md")
      ->capture_default_str();
  command->add_option("--store", options->stores, "only these stores (default: all)")
      ->delimiter(',')
      ->check(CLI::IsMember(names_of_stores()));
  command->add_option("--part", options->part, "print only this table")
      ->check(CLI::IsMember({"all", "costs", "client-death", "findings"}))
      ->capture_default_str();
  add_load_options(*command, *options);
  command
      ->add_option("--deaths", options->moments,
                   "number of moments of a SET at which its client dies")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  command->add_flag("--json", options->json, "print the result as JSON");
  command->add_option("--svg", options->svg, "draw throughput and latency to this file");
  command->footer("Exit status: 0 compared, 1 the picture cannot be drawn, 2 wrong usage.");
  command->callback([options, &exit_status] { exit_status = compare(*options); });
}

}  // namespace falafel::command_line
