// Measures in the simulator what the thesis measured, next to the thesis' predictions and results.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/fiber_stack.h"
#include "tools/benchmarks/figures/lookup_cost.h"
#include "tools/benchmarks/figures/timed_commands.h"

namespace {

using namespace falafel;
using figures::LookupCost;
using figures::LookupCostFigure;

// One curve of Figures 5.3 and 5.4.
struct Curve {
  std::string_view name;
  std::vector<LookupCost> LookupCostFigure::*measured;
  double LookupCost::*quantity;
  double (*predict)(double load);
  double thesis_determination;
};

const std::vector<Curve>& curves() {
  static const std::vector<Curve> all{
      {"lookups, found", &LookupCostFigure::successful, &LookupCost::lookups,
       figures::predicted_successful_lookups, 0.9999},
      {"lookups, not found", &LookupCostFigure::unsuccessful, &LookupCost::lookups,
       figures::predicted_unsuccessful_lookups, 0.9999},
      {"RDMA operations, found", &LookupCostFigure::successful, &LookupCost::verbs,
       figures::predicted_successful_verbs, 0.9996},
      {"RDMA operations, not found", &LookupCostFigure::unsuccessful, &LookupCost::verbs,
       figures::predicted_unsuccessful_verbs, 0.9998}};
  return all;
}

double determination(const LookupCostFigure& figure, const Curve& curve) {
  return figures::coefficient_of_determination(figure.*curve.measured, curve.quantity,
                                               curve.predict);
}

// Formats measurement and prediction; empty where the thesis has no data.
std::string cells(const LookupCostFigure& figure, const Curve& curve, std::size_t row) {
  const std::vector<LookupCost>& measured = figure.*curve.measured;
  if (row >= measured.size()) return " | |";
  return fmt::format(" {:.3f} | {:.3f} |", measured[row].*curve.quantity,
                     curve.predict(measured[row].load));
}

void print_table(const LookupCostFigure& figure, std::size_t every) {
  std::string head = "| load |";
  std::string rule = "| --: |";
  for (const Curve& curve : curves()) {
    head += fmt::format(" {} | predicted |", curve.name);
    rule += " --: | --: |";
  }
  fmt::print("{}\n{}\n", head, rule);
  for (std::size_t row = 0; row < figure.successful.size(); ++row) {
    if ((row + 1) % every != 0 && row + 1 != figure.successful.size()) continue;
    std::string line = fmt::format("| {:.2f} |", figure.successful[row].load);
    for (const Curve& curve : curves()) line += cells(figure, curve, row);
    fmt::print("{}\n", line);
  }
}

void print_determination(const LookupCostFigure& figure) {
  fmt::print("\n| R^2 | measured | thesis |\n| --- | --: | --: |\n");
  for (const Curve& curve : curves()) {
    fmt::print("| {} | {:.4f} | {:.4f} |\n", curve.name, determination(figure, curve),
               curve.thesis_determination);
  }
}

nlohmann::json to_json(const LookupCostFigure& figure) {
  nlohmann::json all = nlohmann::json::array();
  for (const Curve& curve : curves()) {
    nlohmann::json points = nlohmann::json::array();
    for (const LookupCost& cost : figure.*curve.measured) {
      points.push_back({{"load", cost.load},
                        {"measured", cost.*curve.quantity},
                        {"predicted", curve.predict(cost.load)}});
    }
    all.push_back({{"curve", curve.name},
                   {"determination", determination(figure, curve)},
                   {"thesis_determination", curve.thesis_determination},
                   {"points", points}});
  }
  return all;
}

void show_progress(std::uint64_t done, std::uint64_t all) {
  if (::isatty(STDERR_FILENO) == 0) return;
  fmt::print(stderr, "\rkey set {} of {}{}", done, all, done == all ? "\n" : "");
}

}  // namespace

int main(int argument_count, char** arguments) {
  const fabric::StackOverflowReport stack_overflow_report;
  CLI::App app("Measures the figures of the thesis, next to their predictions");
  app.set_help_flag();
  app.set_help_all_flag("-h,--help", "Print this help and that of every subcommand, and exit");
  app.require_subcommand(1);
  CLI::App* lookup_cost = app.add_subcommand(
      "lookup-cost", "lookups and RDMA operations per search, by load of the table");
  figures::LookupCostOptions options;
  std::size_t every = 1;
  bool as_json = false;
  lookup_cost->add_option("--entries", options.table_entries, "number of entries in the table")
      ->check(CLI::Range(1'000, 100'000'000))
      ->capture_default_str();
  lookup_cost->add_option("--key-sets", options.key_sets, "number of tables to average over")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  lookup_cost->add_option("--samples", options.samples, "searches for absent keys at each load")
      ->check(CLI::Range(1, 100'000'000))
      ->capture_default_str();
  lookup_cost->add_option("--seed", options.seed, "seed of secrets and schedules")
      ->capture_default_str();
  lookup_cost
      ->add_option("--every", every, "print the loads whose percentage is a multiple of this")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  lookup_cost->add_flag("--json", as_json, "print all points as JSON");
  figures::add_card_command(app);
  figures::add_throughput_command(app);
  figures::add_latency_command(app);
  figures::add_all_command(app);
  figures::add_cached_command(app);
  CLI11_PARSE(app, argument_count, arguments);
  if (!lookup_cost->parsed()) return 0;

  const LookupCostFigure figure = figures::measure_lookup_cost(
      options, [&](std::uint64_t done) { show_progress(done, options.key_sets); });
  if (as_json) {
    fmt::print("{}\n", to_json(figure).dump(2));
    return 0;
  }
  print_table(figure, every);
  print_determination(figure);
  return 0;
}
