#include "tools/benchmarks/figures/drawing.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "tools/benchmarks/compare_stores/gnuplot.h"

namespace falafel::figures {
namespace {

// Okabe and Ito's colors, which people with color blindness can tell apart.
constexpr std::array<std::string_view, 8> curve_colors{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                       "#e69f00", "#56b4e9", "#000000", "#999999"};

// The subject of a curve: its name without the protocol.
std::string subject_of(const Series& series) {
  const std::string suffix = ", " + series.protocol;
  return !series.protocol.empty() && series.name.ends_with(suffix)
             ? series.name.substr(0, series.name.size() - suffix.size())
             : series.name;
}

int dash_of(const Series& series) {
  if (series.protocol == "hardened") return 2;
  return series.protocol == "cached" ? 3 : 1;
}

std::string style_of(const Series& series) {
  if (series.measured) return "points pointtype 7 pointsize 0.8";
  if (series.points.size() == 1) return "points pointtype 6 pointsize 0.8";
  return fmt::format("lines linewidth 1.5 dashtype {}", dash_of(series));
}

std::string axis_script(std::string_view name, const Axis& axis) {
  return fmt::format("set {0}label {1} noenhanced\n", name, gnuplot::quoted(axis.label)) +
         (axis.logarithmic ? fmt::format("set logscale {}\n", name)
                           : fmt::format("set {}range [0:*]\n", name));
}

std::string data_script(const Figure& figure) {
  std::string script;
  for (std::size_t index = 0; index < figure.series.size(); ++index) {
    script += fmt::format("$data{} << END\n", index);
    for (const Point& point : figure.series[index].points) {
      script += fmt::format("{:.7g} {:.5g}\n", point.x, point.y);
    }
    script += "END\n";
  }
  return script;
}

std::string plot_script(const Figure& figure) {
  std::vector<std::string> subjects;
  std::string script = "plot ";
  for (std::size_t index = 0; index < figure.series.size(); ++index) {
    const Series& series = figure.series[index];
    auto subject = std::find(subjects.begin(), subjects.end(), subject_of(series));
    if (subject == subjects.end()) {
      subjects.push_back(subject_of(series));
      subject = subjects.end() - 1;
    }
    const auto color = static_cast<std::size_t>(subject - subjects.begin()) % curve_colors.size();
    const std::string title = series.measured ? "measured: " + series.name : series.name;
    script +=
        fmt::format("{}$data{} using 1:2 with {} linecolor '{}' title {}", index == 0 ? "" : ", ",
                    index, style_of(series), curve_colors[color], gnuplot::quoted(title));
  }
  return script + "\n";
}

// Half of what gnuplot writes are groups without content.
std::string without_empty_groups(const std::string& svg) {
  constexpr std::string_view end = "</g>\n";
  std::string result;
  std::size_t at = 0;
  while (at < svg.size()) {
    if (svg.compare(at, 3, "<g ") == 0) {
      const std::size_t content = svg.find_first_not_of(" \n", svg.find('>', at) + 1);
      if (svg.compare(content, end.size(), end) == 0) {
        at = content + end.size();
        continue;
      }
    }
    result += svg[at++];
  }
  return result;
}

void shorten(const std::filesystem::path& path) {
  std::ifstream input(path);
  const std::string svg{std::istreambuf_iterator<char>(input), {}};
  input.close();
  std::ofstream(path) << without_empty_groups(svg);
}

}  // namespace

std::string drawing_script(const Figure& figure, const std::string& path) {
  return fmt::format(
             "set terminal svg size 720,440 font 'DejaVu Sans,12' background '#ffffff'\n"
             "set output {}\nset title {} noenhanced\n"
             "set grid linecolor '#dddddd'\nset border 3\nset tics nomirror\n"
             "set key outside right top noenhanced samplen 2 font ',10'\n",
             gnuplot::quoted(path), gnuplot::quoted(figure.number + ": " + figure.title)) +
         axis_script("x", figure.x) + axis_script("y", figure.y) + data_script(figure) +
         plot_script(figure);
}

std::optional<std::string> draw(std::span<const Figure> figures, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fmt::format("'{}' cannot be made: {}", folder, error.message());
  for (const Figure& figure : figures) {
    if (figure.series.empty()) continue;
    const std::filesystem::path path = std::filesystem::path(folder) / (figure.number + ".svg");
    if (const auto problem = gnuplot::run(drawing_script(figure, path.string()))) {
      return fmt::format("figure {}: {}", figure.number, *problem);
    }
    shorten(path);
  }
  return std::nullopt;
}

}  // namespace falafel::figures
