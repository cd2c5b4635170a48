// The figures and tables of the five sources' evaluations: what shall become of each, what the
// command shows today, and why the two differ. The list is figure_list.json, which is part of the
// program; the document's table is made from it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace falafel::figures {

// How a prediction is shown beside the source's values.
enum class Shown : std::uint8_t {
  nothing,
  values,  // a table with the source's values, predictions and deviations
  drawn    // the same, and curves
};

struct ListedFigure {
  std::string number;  // as in the source, such as "5.13" or "table 4.1"
  std::string title;
  Shown goal = Shown::drawn;  // nothing: not predictable
  Shown shown = Shown::nothing;
  std::string note{};
};

struct ListedSource {
  std::string name;   // as an option of the command
  std::string title;  // authors, place and year
  std::vector<ListedFigure> figures;
};

// The text of figure_list.json.
std::string_view figure_list_text();
// The list must be right: every figure that is not shown as it shall be has a note.
std::vector<ListedSource> listed_sources();
// A table in Markdown for each source.
std::string to_table(const std::vector<ListedSource>& sources);

}  // namespace falafel::figures
