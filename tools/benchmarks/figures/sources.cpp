#include "tools/benchmarks/figures/sources.h"

#include <algorithm>
#include <iterator>

#include "tools/benchmarks/figures/c_hint_figures.h"
#include "tools/benchmarks/figures/nessie_figures.h"
#include "tools/benchmarks/figures/pilaf_figures.h"
#include "tools/benchmarks/figures/predictions.h"
#include "tools/benchmarks/figures/troost_figures.h"

namespace falafel::figures {
namespace {

using sim::timing::Profile;

std::vector<FigureGroup> thesis_groups() {
  return {{{"4.1", "4.2"}, {}, predict_card},
          {{"5.1", "5.2"}, {}, predict_read_variation},
          {{"5.3", "5.4"}, {}, [](const Profile&) { return predict_lookup_cost({}); }},
          {{"5.5", "5.6", "5.7", "5.8", "5.9", "5.13", "5.14", "5.15", "5.16", "5.17"},
           {},
           [](const Profile& card) { return predict_throughput(card, {}); }},
          {{"5.10", "5.11", "5.12"}, {}, [](const Profile& card) {
             return predict_latency(card, {});
           }}};
}

std::vector<FigureGroup> pilaf_groups() {
  return {{{"1", "2"}, {"table 1"}, predict_pilaf_transports},
          {{"6"}, {}, [](const Profile&) { return predict_pilaf_probes(); }},
          {{"7", "8"}, {}, predict_pilaf_operations},
          {{"9"}, {}, predict_pilaf_races},
          {{"10", "11"}, {}, predict_pilaf_mixtures}};
}

std::vector<FigureGroup> nessie_groups() {
  return {{{"4"}, {}, predict_nessie_background},
          {{"5"}, {"table 1"}, predict_nessie_sizes},
          {{"6", "7"}, {}, predict_nessie_gets},
          {{"8", "9", "10", "11"}, {}, predict_nessie_operations},
          {{"12", "13"}, {}, predict_nessie_zipf}};
}

std::vector<FigureGroup> troost_groups() {
  return {{{"4.1", "4.3", "4.4", "4.5"}, {"table 4.1"}, predict_troost_polling},
          {{"4.2", "4.6", "4.7", "4.8"}, {"table 4.2"}, predict_troost_blocking},
          {{}, {"table 4.3"}, predict_troost_switches}};
}

std::vector<FigureGroup> c_hint_groups() {
  return {{{"2"}, {"table 1"}, predict_c_hint_times},
          {{"5"}, {}, [](const Profile&) { return predict_c_hint_hits(); }},
          {{"6"}, {"7", "8"}, [](const Profile&) { return predict_c_hint_pointer_hits(); }},
          {{"9", "10"}, {}, predict_c_hint_reports}};
}

bool has(const FigureGroup& group, const std::string& number) {
  return std::ranges::find(group.drawn, number) != group.drawn.end() ||
         std::ranges::find(group.values, number) != group.values.end();
}

}  // namespace

const std::vector<Source>& known_sources() {
  static const std::vector<Source> sources{{"thesis", "connectx3-qdr", thesis_groups()},
                                           {"pilaf", "connectx2-ddr", pilaf_groups()},
                                           {"nessie", "connectx3-10gbe", nessie_groups()},
                                           {"troost", "connectx3-fdr", troost_groups()},
                                           {"c-hint", "connectx3-fdr", c_hint_groups()}};
  return sources;
}

std::vector<std::string> numbers_of(const Source& source) {
  std::vector<std::string> numbers;
  for (const FigureGroup& group : source.groups) {
    std::ranges::copy(group.drawn, std::back_inserter(numbers));
    std::ranges::copy(group.values, std::back_inserter(numbers));
  }
  return numbers;
}

std::vector<Figure> predict_figures(const Source& source, const std::string& number,
                                    const Profile& card) {
  std::vector<Figure> figures;
  for (const FigureGroup& group : source.groups) {
    if (!number.empty() && !has(group, number)) continue;
    std::ranges::move(group.predict(card), std::back_inserter(figures));
  }
  std::erase_if(figures, [&](const Figure& figure) {
    return !number.empty() && figure_of_panel(figure.number) != number;
  });
  sort_by_number(figures);
  return figures;
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
