#include "tools/benchmarks/figures/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace falafel::figures {
namespace {

using nlohmann::json;

json to_json(const Axis& axis) {
  json result{{"label", axis.label}};
  if (axis.logarithmic) result["scale"] = "logarithmic";
  return result;
}

json to_json(const Series& series) {
  json points = json::array();
  for (const Point& point : series.points) points.push_back({point.x, point.y});
  json result{{"name", series.name}, {"points", std::move(points)}, {"thesis", series.thesis}};
  if (!series.protocol.empty()) result["protocol"] = series.protocol;
  return result;
}

json to_json(const Comparison& comparison) {
  json result{{"quantity", comparison.quantity},
              {"thesis", comparison.thesis},
              {"published", comparison.published}};
  if (comparison.hardened) result["hardened"] = *comparison.hardened;
  return result;
}

json to_json(const Figure& figure) {
  json series = json::array();
  for (const Series& one : figure.series) series.push_back(to_json(one));
  json comparisons = json::array();
  for (const Comparison& one : figure.comparisons) comparisons.push_back(to_json(one));
  return {{"figure", figure.number},     {"title", figure.title},
          {"x", to_json(figure.x)},      {"y", to_json(figure.y)},
          {"series", std::move(series)}, {"comparisons", std::move(comparisons)}};
}

// Enough digits for the deviation to follow from them.
std::string value_text(double value) {
  const int digits = value < 1 ? 4 : 2;
  return fmt::format("{:.{}f}", value, digits);
}

std::string compared(std::optional<double> predicted, double thesis) {
  if (!predicted) return "  |  |";
  const double percent = std::round(deviation_percent(*predicted, thesis));
  const std::string deviation = percent == 0 ? "0 %" : fmt::format("{:+.0f} %", percent);
  return fmt::format(" {} | {} |", value_text(*predicted), deviation);
}

// "5.13a" is {5, 13, "a"}.
std::tuple<int, int, std::string> parts_of(const std::string& number) {
  const std::size_t point = number.find('.');
  const std::size_t panel = std::min(number.find_first_of("ab"), number.size());
  return {std::stoi(number), std::stoi(number.substr(point + 1)), number.substr(panel)};
}

}  // namespace

void sort_by_number(std::vector<Figure>& figures) {
  std::ranges::stable_sort(figures, {},
                           [](const Figure& figure) { return parts_of(figure.number); });
}

double deviation_percent(double predicted, double thesis) { return (predicted / thesis - 1) * 100; }

json to_json(std::span<const Figure> figures) {
  json all = json::array();
  for (const Figure& figure : figures) all.push_back(to_json(figure));
  return all;
}

std::string deviation_table(std::span<const Figure> figures) {
  std::string table =
      "| Figure | Quantity | Thesis | Published protocol | Deviation | Hardened protocol | "
      "Deviation |\n"
      "| --- | --- | --: | --: | --: | --: | --: |\n";
  for (const Figure& figure : figures) {
    for (const Comparison& comparison : figure.comparisons) {
      table += fmt::format("| {} | {} | {} |", figure.number, comparison.quantity,
                           value_text(comparison.thesis));
      table += compared(comparison.published, comparison.thesis);
      table += compared(comparison.hardened, comparison.thesis) + "\n";
    }
  }
  return table;
}

}  // namespace falafel::figures
