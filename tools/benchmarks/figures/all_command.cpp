// falafel-figures all: predicts every figure of the thesis.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tools/benchmarks/figures/card_option.h"
#include "tools/benchmarks/figures/predictions.h"
#include "tools/benchmarks/figures/timed_commands.h"

namespace falafel::figures {
namespace {

struct AllOptions {
  std::string card = "connectx3-qdr";
  Effort effort;
  bool json = false;
};

void show_progress(std::string_view text) {
  if (::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\rpredicting {}          ", text);
}

std::vector<Figure> predict_all(const AllOptions& options) {
  const sim::timing::Profile profile = profile_of(options.card);
  std::vector<Figure> figures;
  const auto add = [&](std::vector<Figure> more) {
    std::ranges::move(more, std::back_inserter(figures));
  };
  show_progress("figures 4.1 and 4.2");
  add(predict_card(profile));
  show_progress("figures 5.1 and 5.2");
  add(predict_read_variation(profile));
  show_progress("figures 5.3 and 5.4");
  add(predict_lookup_cost(options.effort));
  show_progress("figures 5.5 to 5.9 and 5.13 to 5.17");
  add(predict_throughput(profile, options.effort));
  show_progress("figures 5.10 to 5.12");
  add(predict_latency(profile, options.effort));
  if (::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\n");
  sort_by_number(figures);
  return figures;
}

}  // namespace

void add_all_command(CLI::App& app) {
  const auto options = std::make_shared<AllOptions>();
  CLI::App* const command =
      app.add_subcommand("all", "every figure, and how far the predictions are from the thesis");
  add_card_option(*command, options->card);
  command->add_option("--seed", options->effort.seed, "seed of the operations")
      ->capture_default_str();
  command->add_flag("--json", options->json,
                    "print the curves of all figures as JSON instead of the deviations");
  command->callback([options] {
    const std::vector<Figure> figures = predict_all(*options);
    if (options->json) {
      fmt::print("{}\n", to_json(figures).dump(1));
    } else {
      fmt::print("{}", deviation_table(figures));
    }
  });
}

}  // namespace falafel::figures
