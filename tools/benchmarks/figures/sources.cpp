#include "tools/benchmarks/figures/sources.h"

#include <algorithm>

#include "tools/benchmarks/figures/c_hint_figures.h"
#include "tools/benchmarks/figures/nessie_figures.h"
#include "tools/benchmarks/figures/pilaf_figures.h"
#include "tools/benchmarks/figures/predictions.h"
#include "tools/benchmarks/figures/troost_figures.h"

namespace falafel::figures {
namespace {

using sim::timing::Profile;

// Comparisons without curves, by figure.
std::vector<Figure> to_figures(const std::vector<PaperComparison>& comparisons) {
  std::vector<Figure> figures;
  for (const PaperComparison& comparison : comparisons) {
    auto figure = std::ranges::find(figures, comparison.figure, &Figure::number);
    if (figure == figures.end()) {
      figures.push_back({.number = comparison.figure, .title = {}, .x = {}, .y = {}});
      figure = figures.end() - 1;
    }
    figure->comparisons.push_back({.quantity = comparison.quantity,
                                   .measured = comparison.paper,
                                   .published = comparison.predicted});
  }
  return figures;
}

std::vector<FigureGroup> thesis_groups() {
  return {{{"4.1", "4.2"}, Shown::drawn, predict_card},
          {{"5.1", "5.2"}, Shown::drawn, predict_read_variation},
          {{"5.3", "5.4"}, Shown::drawn, [](const Profile&) { return predict_lookup_cost({}); }},
          {{"5.5", "5.6", "5.7", "5.8", "5.9", "5.13", "5.14", "5.15", "5.16", "5.17"},
           Shown::drawn,
           [](const Profile& card) { return predict_throughput(card, {}); }},
          {{"5.10", "5.11", "5.12"}, Shown::drawn, [](const Profile& card) {
             return predict_latency(card, {});
           }}};
}

}  // namespace

const std::vector<Source>& known_sources() {
  static const std::vector<Source> sources{
      {"thesis", "connectx3-qdr", thesis_groups()},
      {"pilaf",
       "connectx2-ddr",
       {{{"6", "7", "8", "10", "11"},
         Shown::values,
         [](const Profile& card) { return to_figures(compare_with_pilaf(card)); }}}},
      {"nessie",
       "connectx3-10gbe",
       {{{"table 1", "8", "9", "13"},
         Shown::values,
         [](const Profile& card) { return to_figures(compare_with_nessie(card)); }}}},
      {"troost",
       "connectx3-fdr",
       {{{"4.1", "4.2", "4.3", "table 4.1", "table 4.2"},
         Shown::values,
         [](const Profile& card) { return to_figures(compare_with_troost(card)); }}}},
      {"c-hint",
       "connectx3-fdr",
       {{{"5", "6", "7", "table 1"}, Shown::values, [](const Profile& card) {
           return to_figures(compare_with_c_hint(card));
         }}}}};
  return sources;
}

const Source* find_source(std::string_view name) {
  const auto found = std::ranges::find(known_sources(), name, &Source::name);
  return found == known_sources().end() ? nullptr : &*found;
}

std::string figure_of_panel(const std::string& number) {
  return std::isalpha(static_cast<unsigned char>(number.back())) != 0
             ? number.substr(0, number.size() - 1)
             : number;
}

}  // namespace falafel::figures
