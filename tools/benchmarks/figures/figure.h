// A figure of a source as data: curves that were predicted, the values that the source states,
// and a comparison of both. Programs draw it from its JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace falafel::figures {

struct Point {
  double x = 0;
  double y = 0;
};

struct Series {
  std::string name;
  std::vector<Point> points{};
  bool measured = false;   // values that the source states, which are not predicted
  std::string protocol{};  // "published" or "hardened"; empty: neither
};

struct Axis {
  std::string label;
  bool logarithmic = false;
};

// A value that the source states, next to the predictions for both protocols.
struct Comparison {
  std::string quantity;  // with its unit
  double measured = 0;
  double published = 0;
  std::optional<double> hardened{};  // absent: the protocol does not matter
};

struct Figure {
  std::string number;  // as in the source, such as "5.13a" or "table 1"
  std::string title;
  Axis x;
  Axis y;
  std::vector<Series> series{};
  std::vector<Comparison> comparisons{};
};

// Orders figures by their numbers, 5.9 before 5.10, and tables behind them.
void sort_by_number(std::vector<Figure>& figures);
double deviation_percent(double predicted, double measured);
nlohmann::json to_json(std::span<const Figure> figures);
// A table in Markdown with all comparisons. Without predictions for the hardened protocol, it has
// no columns for them.
std::string deviation_table(std::span<const Figure> figures);

}  // namespace falafel::figures
