// The predictions of the five sources by figure: which function predicts a figure, for which card.
// Figures that come from the same runs are predicted together.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/sim/timing/profile.h"
#include "tools/benchmarks/figures/figure.h"

namespace falafel::figures {

// Numbers are without the letters of panels.
struct FigureGroup {
  std::vector<std::string> drawn;
  std::vector<std::string> values;  // that have no curves
  std::vector<Figure> (*predict)(const sim::timing::Profile& card);
};

struct Source {
  std::string_view name;
  std::string_view card;  // the profile for the source's setup
  std::vector<FigureGroup> groups;
};

const std::vector<Source>& known_sources();
// All numbers of the source that are predicted.
std::vector<std::string> numbers_of(const Source& source);
// The figures of that number with its panels; empty: all figures.
std::vector<Figure> predict_figures(const Source& source, const std::string& number,
                                    const sim::timing::Profile& card);
// Null: there is none of that name.
const Source* find_source(std::string_view name);
// The number without the letter of a panel: "5.13" for "5.13a".
std::string figure_of_panel(const std::string& number);

}  // namespace falafel::figures
