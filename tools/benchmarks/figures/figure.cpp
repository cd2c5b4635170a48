#include "tools/benchmarks/figures/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace falafel::figures {
namespace {

using nlohmann::json;

constexpr std::string_view table_prefix = "table ";

json to_json(const Axis& axis) {
  json result{{"label", axis.label}};
  if (axis.logarithmic) result["scale"] = "logarithmic";
  return result;
}

json to_json(const Series& series) {
  json points = json::array();
  for (const Point& point : series.points) points.push_back({point.x, point.y});
  json result{{"name", series.name}, {"points", std::move(points)}, {"measured", series.measured}};
  if (!series.protocol.empty()) result["protocol"] = series.protocol;
  return result;
}

json to_json(const Comparison& comparison) {
  json result{{"quantity", comparison.quantity},
              {"measured", comparison.measured},
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

// "5.13a" is {false, 5, 13, "a"}, "table 1" is {true, 1, 0, ""}.
std::tuple<bool, int, int, std::string> parts_of(const std::string& number) {
  const bool is_table = number.starts_with(table_prefix);
  const std::string digits = is_table ? number.substr(table_prefix.size()) : number;
  const std::size_t point = digits.find('.');
  const std::size_t panel = std::min(digits.find_first_not_of("0123456789."), digits.size());
  const int minor = point == std::string::npos ? 0 : std::stoi(digits.substr(point + 1));
  return {is_table, std::stoi(digits), minor, digits.substr(panel)};
}

std::string comparison_row(const Figure& figure, const Comparison& comparison, bool has_hardened) {
  std::string row = fmt::format("| {} | {} | {} |", figure.number, comparison.quantity,
                                value_text(comparison.measured));
  row += compared(comparison.published, comparison.measured);
  if (has_hardened) row += compared(comparison.hardened, comparison.measured);
  return row + "\n";
}

}  // namespace

void sort_by_number(std::vector<Figure>& figures) {
  std::ranges::stable_sort(figures, {},
                           [](const Figure& figure) { return parts_of(figure.number); });
}

double deviation_percent(double predicted, double measured) {
  return (predicted / measured - 1) * 100;
}

json to_json(std::span<const Figure> figures) {
  json all = json::array();
  for (const Figure& figure : figures) all.push_back(to_json(figure));
  return all;
}

std::string deviation_table(std::span<const Figure> figures) {
  const bool has_hardened = std::ranges::any_of(figures, [](const Figure& figure) {
    return std::ranges::any_of(figure.comparisons, [](const Comparison& comparison) {
      return comparison.hardened.has_value();
    });
  });
  std::string table = has_hardened
                          ? "| Figure | Quantity | Measured | Published protocol | Deviation | "
                            "Hardened protocol | Deviation |\n"
                            "| --- | --- | --: | --: | --: | --: | --: |\n"
                          : "| Figure | Quantity | Measured | Predicted | Deviation |\n"
                            "| --- | --- | --: | --: | --: |\n";
  for (const Figure& figure : figures) {
    for (const Comparison& comparison : figure.comparisons) {
      table += comparison_row(figure, comparison, has_hardened);
    }
  }
  return table;
}

}  // namespace falafel::figures
