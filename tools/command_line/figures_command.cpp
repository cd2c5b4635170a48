// falafel figures: what the thesis and the papers measured, beside predictions.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tools/benchmarks/figures/drawing.h"
#include "tools/benchmarks/figures/figure_list.h"
#include "tools/benchmarks/figures/sources.h"
#include "tools/command_line/commands.h"

namespace falafel::command_line {
namespace {

constexpr int figures_not_drawn = 1;
constexpr int figures_wrong_usage = 2;

struct FiguresOptions {
  std::string source;  // empty: list all figures
  std::string number;  // empty: all
  std::string card;    // empty: the source's
  bool json = false;
  std::string svg;  // folder; empty: none
};

int refuse_figures(const std::string& problem, int status = figures_wrong_usage) {
  fmt::print(stderr, "falafel figures: {}\n", problem);
  return status;
}

std::vector<std::string> names_of_sources() {
  std::vector<std::string> names;
  for (const figures::Source& source : figures::known_sources()) names.emplace_back(source.name);
  return names;
}

int show_figures(const FiguresOptions& options) {
  if (options.source.empty()) {
    if (!options.number.empty() || !options.svg.empty() || options.json) {
      return refuse_figures("--figure, --json and --svg need --source; add it");
    }
    fmt::print("{}", figures::to_table(figures::listed_sources()));
    return 0;
  }
  const figures::Source& source = *figures::find_source(options.source);
  const std::vector<std::string> numbers = figures::numbers_of(source);
  if (!options.number.empty() && std::ranges::find(numbers, options.number) == numbers.end()) {
    return refuse_figures(fmt::format("--figure: no figure '{}' of {} is predicted; there are: {}",
                                      options.number, source.name, fmt::join(numbers, ", ")));
  }
  const auto card = sim::timing::find_or_read_profile(
      options.card.empty() ? std::string(source.card) : options.card);
  if (!card) return refuse_figures(fmt::format("--card: {}", card.error()));
  const std::vector<figures::Figure> predicted =
      figures::predict_figures(source, options.number, *card);
  if (options.json) {
    fmt::print("{}\n", figures::to_json(predicted).dump(1));
  } else {
    fmt::print("{}", figures::deviation_table(predicted));
  }
  if (options.svg.empty()) return 0;
  const auto problem = figures::draw(predicted, options.svg);
  return problem ? refuse_figures("--svg: " + *problem, figures_not_drawn) : 0;
}

}  // namespace

void add_figures_command(CLI::App& app, int& exit_status) {
  const auto options = std::make_shared<FiguresOptions>();
  CLI::App* const command = app.add_subcommand(
      "figures", "list the figures of the thesis and of four papers, or predict those of one");
  command->add_option("--source", options->source, "predict the figures of this source")
      ->check(CLI::IsMember(names_of_sources()));
  command->add_option("--figure", options->number,
                      "only the figure of this number, such as 5.6 or 'table 1' (default: all)");
  command->add_option("--card", options->card,
                      "the card; a file, or a name of docs/performance.md (default: that of the "
                      "source's setup)");
  command->add_flag("--json", options->json, "print the curves as JSON instead of the deviations");
  command->add_option("--svg", options->svg, "draw each figure into this folder, as NUMBER.svg");
  command->footer("Exit status: 0 done, 1 a picture cannot be drawn, 2 wrong usage.");
  command->callback([options, &exit_status] { exit_status = show_figures(*options); });
}

}  // namespace falafel::command_line
