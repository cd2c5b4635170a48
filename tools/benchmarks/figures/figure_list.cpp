#include "tools/benchmarks/figures/figure_list.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "fabric/assert.h"

namespace falafel::figures {
namespace {

using nlohmann::json;

Shown to_shown(const std::string& word) {
  if (word == "drawn") return Shown::drawn;
  if (word == "values") return Shown::values;
  FALAFEL_ASSERT(word == "nothing", "the list of figures has the unknown word '{}'", word);
  return Shown::nothing;
}

ListedFigure to_figure(const json& entry) {
  ListedFigure figure{.number = entry.at("figure"),
                      .title = entry.at("title"),
                      .goal = to_shown(entry.at("goal")),
                      .shown = to_shown(entry.at("shown")),
                      .note = entry.value("note", "")};
  FALAFEL_ASSERT(
      (figure.goal == figure.shown && figure.goal != Shown::nothing) || !figure.note.empty(),
      "figure {} of the list is not shown as it shall be, but has no note", figure.number);
  return figure;
}

std::string_view word_of(const ListedFigure& figure) {
  if (figure.goal == Shown::nothing) return "not predictable";
  switch (figure.shown) {
    case Shown::nothing: return "not yet";
    case Shown::values: return "table";
    case Shown::drawn: return "drawn";
  }
  FALAFEL_ASSERT(false, "figure {} is shown in no known way", figure.number);
}

}  // namespace

std::vector<ListedSource> listed_sources() {
  std::vector<ListedSource> sources;
  for (const json& entry : json::parse(figure_list_text())) {
    ListedSource source{.name = entry.at("source"), .title = entry.at("title"), .figures = {}};
    for (const json& figure : entry.at("figures")) source.figures.push_back(to_figure(figure));
    sources.push_back(std::move(source));
  }
  return sources;
}

std::string to_table(const std::vector<ListedSource>& sources) {
  std::string table =
      "| Source | Figure | Subject | Shown | Note |\n| --- | --- | --- | --- | --- |\n";
  for (const ListedSource& source : sources) {
    for (const ListedFigure& figure : source.figures) {
      table += fmt::format("| {} | {} | {} | {} | {} |\n", source.name, figure.number, figure.title,
                           word_of(figure), figure.note);
    }
  }
  return table;
}

}  // namespace falafel::figures
