// A figure of the thesis as data: curves that were predicted, the values that the thesis states,
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
  bool thesis = false;     // values that the thesis states, which are not predicted
  std::string protocol{};  // "published" or "hardened"; empty: neither
};

struct Axis {
  std::string label;
  bool logarithmic = false;
};

// A value that the thesis states, next to the predictions for both protocols.
struct Comparison {
  std::string quantity;  // with its unit
  double thesis = 0;
  double published = 0;
  std::optional<double> hardened{};  // absent: the protocol does not matter
};

struct Figure {
  std::string number;  // as in the thesis, such as "5.13a"
  std::string title;
  Axis x;
  Axis y;
  std::vector<Series> series{};
  std::vector<Comparison> comparisons{};
};

// Orders figures as in the thesis, 5.9 before 5.10.
void sort_by_number(std::vector<Figure>& figures);
double deviation_percent(double predicted, double thesis);
nlohmann::json to_json(std::span<const Figure> figures);
// A table in Markdown with all comparisons.
std::string deviation_table(std::span<const Figure> figures);

}  // namespace falafel::figures
