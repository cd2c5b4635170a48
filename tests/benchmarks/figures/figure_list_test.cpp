// The list of the sources' figures, and what the command predicts, agree.
#include "tools/benchmarks/figures/figure_list.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "tools/benchmarks/figures/sources.h"

namespace falafel::figures {
namespace {

// By source and number.
using ShownFigures = std::map<std::pair<std::string, std::string>, Shown>;

TEST(FigureList, HasEveryFigureOfTheFiveEvaluationsOnce) {
  std::set<std::pair<std::string, std::string>> figures;
  std::size_t entries = 0;
  for (const ListedSource& source : listed_sources()) {
    entries += source.figures.size();
    for (const ListedFigure& figure : source.figures) figures.emplace(source.name, figure.number);
  }
  EXPECT_EQ(entries, 59U);
  EXPECT_EQ(figures.size(), entries);
}

TEST(FigureList, AgreesWithWhatTheCommandPredicts) {
  ShownFigures listed;
  for (const ListedSource& source : listed_sources()) {
    for (const ListedFigure& figure : source.figures) {
      if (figure.shown == Shown::nothing) continue;
      listed[{source.name, figure.number}] = figure.shown;
    }
  }
  ShownFigures predicted;
  for (const Source& source : known_sources()) {
    const auto add = [&](const std::string& number, Shown shown) {
      EXPECT_TRUE(predicted.insert({{std::string(source.name), number}, shown}).second)
          << "figure " << number << " of " << source.name << " is predicted twice";
    };
    for (const FigureGroup& group : source.groups) {
      for (const std::string& number : group.drawn) add(number, Shown::drawn);
      for (const std::string& number : group.values) add(number, Shown::values);
    }
  }
  EXPECT_EQ(listed, predicted);
}

TEST(FigureList, IsATableWithANoteForWhatIsMissing) {
  const std::string table = to_table(listed_sources());
  EXPECT_NE(table.find("| thesis | 5.6 | throughput by clients on five machines | drawn |  |\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("| nessie | 14 | power by throughput | not predictable | the model "
                       "has no power |\n"),
            std::string::npos)
      << table;
}

TEST(FigureList, AFigureIsPredictedWithItsPanelsAndNothingElse) {
  const Source& pilaf = *find_source("pilaf");
  const auto card = sim::timing::find_profile(std::string(pilaf.card)).value();
  const std::vector<Figure> figures = predict_figures(pilaf, "6", card);
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_EQ(figures.front().number, "6");
  EXPECT_FALSE(figures.front().series.empty());
  EXPECT_EQ(find_source("memcached"), nullptr);
}

TEST(FigureList, FiguresAreCountedWithoutTheirPanels) {
  EXPECT_EQ(figure_of_panel("5.13a"), "5.13");
  EXPECT_EQ(figure_of_panel("table 4.1"), "table 4.1");
}

}  // namespace
}  // namespace falafel::figures
