#include "explorer/commands/coverage_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace falafel::command_line {
namespace {

constexpr double width = 760;
constexpr double height = 240;
constexpr double left = 46;
constexpr double right = 16;
constexpr double top = 12;
constexpr double bottom = 34;
constexpr double first_seconds = 0.05;  // the campaign reports that often

// The axes of the picture.
struct Axes {
  double last_seconds;
  double most;

  double x(double seconds) const {
    const double share = std::log(std::max(seconds, first_seconds) / first_seconds) /
                         std::log(last_seconds / first_seconds);
    return left + share * (width - left - right);
  }
  double y(double count) const { return height - bottom - count / most * (height - top - bottom); }
};

std::string horizontal_lines(const Axes& axes) {
  std::string svg;
  const double step = std::max(1.0, std::ceil(axes.most / 4));
  for (double count = 0; count <= axes.most; count += step) {
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>"
        "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
        left, width - right, axes.y(count), left - 6, axes.y(count) + 4, count);
  }
  return svg;
}

std::string vertical_lines(const Axes& axes) {
  constexpr std::array<double, 9> marks{0.1, 1, 10, 60, 600, 3'600, 36'000, 86'400, 864'000};
  std::string svg;
  for (const double seconds : marks) {
    if (seconds > axes.last_seconds) break;
    svg += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>"
        "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4}</text>\n",
        axes.x(seconds), top, height - bottom, height - bottom + 18, time_text(seconds));
  }
  return svg;
}

std::string curve(const Axes& axes, const std::vector<double>& times) {
  std::string points = fmt::format("M{:.1f} {:.1f}", left, axes.y(0));
  std::size_t reached = 0;
  for (const double seconds : times) {
    points +=
        fmt::format(" H{:.1f} V{:.1f}", axes.x(seconds), axes.y(static_cast<double>(++reached)));
  }
  points += fmt::format(" H{:.1f}", width - right);
  return fmt::format("<path class=\"curve\" d=\"{}\"/>\n", points);
}

}  // namespace

std::string time_text(double seconds) {
  if (seconds < 1) return fmt::format("{:.0f} ms", seconds * 1e3);
  if (seconds < 60) return fmt::format("{:.3g} s", seconds);
  const auto whole = static_cast<std::uint64_t>(seconds);
  if (whole < 3'600) {
    return whole % 60 == 0 ? fmt::format("{} min", whole / 60)
                           : fmt::format("{} min {:02} s", whole / 60, whole % 60);
  }
  return whole % 3'600 < 60 ? fmt::format("{} h", whole / 3'600)
                            : fmt::format("{} h {:02} min", whole / 3'600, whole / 60 % 60);
}

std::string draw_coverage_curve(const explorer::CampaignResult& results) {
  std::vector<double> times;
  times.reserve(results.first_reached.size());
  for (const auto& [name, first] : results.first_reached) times.push_back(first.seconds);
  std::ranges::sort(times);
  const std::size_t total = names_reached(results).size() + names_missed(results).size();
  const double last = std::max(times.empty() ? 0 : times.back() * 1.5, 1.0);
  const Axes axes{.last_seconds = last,
                  .most = static_cast<double>(std::max<std::size_t>(total, 1))};
  return fmt::format(
      "<svg viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"{2} of {3} reached\">\n{4}{5}"
      "<line class=\"goal\" x1=\"{6}\" x2=\"{7}\" y1=\"{8:.1f}\" y2=\"{8:.1f}\"/>\n{9}</svg>\n",
      width, height, times.size(), total, horizontal_lines(axes), vertical_lines(axes), left,
      width - right, axes.y(axes.most), curve(axes, times));
}

}  // namespace falafel::command_line
