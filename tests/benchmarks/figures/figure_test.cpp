// The figures as data: programs that draw them depend on their JSON, and each figure has curves for
// both protocols.
#include "tools/benchmarks/figures/figure.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tools/benchmarks/figures/predictions.h"

namespace falafel::figures {
namespace {

Figure example() {
  return {.number = "5.0",
          .title = "Example",
          .x = {.label = "size", .logarithmic = true},
          .y = {.label = "time"},
          .series = {{.name = "GET", .points = {{1, 2.5}, {2, 3}}, .protocol = "hardened"},
                     {.name = "GET", .points = {{1, 2}}, .measured = true}},
          .comparisons = {{"GET, us", 2, 2.5, 3.0}, {"READ, us", 4, 3}}};
}

TEST(Figure, HasTheJsonThatProgramsDraw) {
  const std::vector<Figure> figures{example()};
  EXPECT_EQ(to_json(figures), nlohmann::json::parse(R"([{
    "figure": "5.0",
    "title": "Example",
    "x": {"label": "size", "scale": "logarithmic"},
    "y": {"label": "time"},
    "series": [
      {"name": "GET", "points": [[1.0, 2.5], [2.0, 3.0]], "measured": false, "protocol": "hardened"},
      {"name": "GET", "points": [[1.0, 2.0]], "measured": true}
    ],
    "comparisons": [
      {"quantity": "GET, us", "measured": 2.0, "published": 2.5, "hardened": 3.0},
      {"quantity": "READ, us", "measured": 4.0, "published": 3.0}
    ]
  }])"));
}

TEST(Figure, AreInTheOrderOfTheirNumbers) {
  std::vector<Figure> figures;
  for (const char* number : {"table 1", "5.10", "5.9", "5.13b", "4.2a", "5.13a", "10a", "7"}) {
    figures.push_back({.number = number, .title = "", .x = {}, .y = {}});
  }
  sort_by_number(figures);
  std::vector<std::string> order;
  for (const Figure& figure : figures) order.push_back(figure.number);
  EXPECT_EQ(order, (std::vector<std::string>{"4.2a", "5.9", "5.10", "5.13a", "5.13b", "7", "10a",
                                             "table 1"}));
}

TEST(Figure, DeviationsAreThoseFromTheThesis) {
  const std::vector<Figure> figures{example()};
  const std::string table = deviation_table(figures);
  EXPECT_NE(table.find("| 5.0 | GET, us | 2.00 | 2.50 | +25 % | 3.00 | +50 % |\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("| 5.0 | READ, us | 4.00 | 3.00 | -25 % |  |  |\n"), std::string::npos)
      << table;
}

TEST(Figure, TablesWithoutTheHardenedProtocolHaveNoColumnForIt) {
  const std::vector<Figure> figures{
      {.number = "7", .title = "", .x = {}, .y = {}, .comparisons = {{"GET, Mops/s", 2, 1.5}}}};
  const std::string table = deviation_table(figures);
  EXPECT_NE(table.find("| 7 | GET, Mops/s | 2.00 | 1.50 | -25 % |\n"), std::string::npos) << table;
}

std::set<std::string> numbers(const std::vector<Figure>& figures) {
  std::set<std::string> numbers;
  for (const Figure& figure : figures) numbers.insert(figure.number);
  return numbers;
}

void expect_both_protocols(const std::vector<Figure>& figures) {
  for (const Figure& figure : figures) {
    std::set<std::string> protocols;
    for (const Series& series : figure.series) {
      EXPECT_FALSE(series.points.empty()) << figure.number << ": " << series.name;
      if (!series.measured) protocols.insert(series.protocol);
    }
    EXPECT_EQ(protocols, (std::set<std::string>{"published", "hardened"})) << figure.number;
  }
}

Effort least_effort() {
  return {.duration_ns = 100'000,
          .table_entries = 1'024,
          .lookup_entries = 1'000,
          .lookup_key_sets = 1,
          .lookup_samples = 20};
}

TEST(Predictions, HaveBothProtocolsInEveryFigureOfChapterFive) {
  const auto profile = sim::timing::find_profile("connectx3-qdr").value();
  const std::vector<Figure> lookups = predict_lookup_cost(least_effort());
  EXPECT_EQ(numbers(lookups), (std::set<std::string>{"5.3", "5.4"}));
  expect_both_protocols(lookups);
  const std::vector<Figure> throughput = predict_throughput(profile, least_effort());
  EXPECT_EQ(numbers(throughput),
            (std::set<std::string>{"5.5", "5.6", "5.7", "5.8", "5.9", "5.13a", "5.13b", "5.14a",
                                   "5.14b", "5.15a", "5.15b", "5.16", "5.17"}));
  expect_both_protocols(throughput);
  const std::vector<Figure> latency = predict_latency(profile, least_effort());
  EXPECT_EQ(numbers(latency), (std::set<std::string>{"5.10", "5.11", "5.12"}));
  expect_both_protocols(latency);
}

double published(const Figure& figure, const std::string& quantity) {
  for (const Comparison& comparison : figure.comparisons) {
    if (comparison.quantity == quantity) return comparison.published;
  }
  ADD_FAILURE() << "figure " << figure.number << " compares no '" << quantity << "'";
  return 0;
}

TEST(Predictions, OfTheCardAreWhatItsProfileWasMadeFrom) {
  const auto profile = sim::timing::find_profile("connectx3-qdr").value();
  const std::vector<Figure> figures = predict_card(profile);
  EXPECT_EQ(numbers(figures), (std::set<std::string>{"4.1", "4.2a", "4.2b"}));
  EXPECT_NEAR(published(figures[0], "READ of 4 KiB, us"), 6.3, 0.06);
  EXPECT_NEAR(published(figures[1], "compare-and-swap, Mops/s"), 2.5, 0.03);
}

// The model knows of nothing that a READ leaves behind in a card.
TEST(Predictions, OfReadsDoNotDependOnWhatPrecedesThem) {
  const auto profile = sim::timing::find_profile("connectx3-qdr").value();
  const std::vector<Figure> figures = predict_read_variation(profile);
  EXPECT_EQ(numbers(figures), (std::set<std::string>{"5.1a", "5.1b", "5.2a", "5.2b"}));
  for (const Figure& figure : figures) {
    const Series& reads = figure.series.front();
    ASSERT_EQ(reads.points.size(), 100U) << figure.number;
    for (const Point& read : reads.points) EXPECT_NEAR(read.y, 2.85, 0.01) << figure.number;
  }
}

// Bands of figure 5.2 are apart by what a READ takes longer than a WRITE.
TEST(Predictions, OfReadsWithOtherRoundTripsOfTheBusAreNearBands) {
  const auto profile = sim::timing::find_profile("connectx3-qdr").value();
  const std::vector<Figure> figures = predict_read_variation(profile);
  EXPECT_NEAR(
      published(figures[2], "READs after 3 MiB, lower band, us, one round trip of the bus less"),
      2.0, 0.2);
  EXPECT_NEAR(published(figures[3],
                        "READs after 7 MiB, upper main band, us, one round trip of the bus more"),
              4.0, 0.2);
  EXPECT_NEAR(
      published(figures[3], "READs after 7 MiB, highest band, us, 2 round trips of the bus more"),
      5.1, 0.3);
}

// A GET hands out the buffer that the network filled; a SET copies its value.
TEST(Predictions, SetsOfLargeValuesTakeLongerThanGets) {
  const auto profile = sim::timing::find_profile("connectx3-qdr").value();
  const Figure figure = predict_latency(profile, least_effort())[1];
  EXPECT_GT(published(figure, "SET passes GET, KiB"), 4);
  EXPECT_LT(published(figure, "SET passes GET, KiB"), 20);
}

}  // namespace
}  // namespace falafel::figures
