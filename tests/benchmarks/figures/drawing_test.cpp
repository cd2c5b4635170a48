// Figures are drawn as SVG, with the values of the source.
#include "tools/benchmarks/figures/drawing.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace falafel::figures {
namespace {

Figure drawn(const std::string& number) {
  return {
      .number = number,
      .title = "Throughput of clients",
      .x = {.label = "clients"},
      .y = {.label = "million operations per second"},
      .series = {
          {.name = "SET, published", .points = {{1, 0.11}, {20, 1.65}}, .protocol = "published"},
          {.name = "SET", .points = {{1, 0.098}}, .measured = true}}};
}

TEST(Drawing, ScriptsHaveCurvesAndMeasuredPointsOfOneColor) {
  const std::string script = drawing_script(drawn("5.6"), "folder/it's.svg");
  EXPECT_NE(script.find("set output 'folder/it''s.svg'\n"), std::string::npos) << script;
  EXPECT_NE(script.find("using 1:2 with lines linewidth 1.5 dashtype 1 linecolor '#0072b2' title "
                        "'SET, published'"),
            std::string::npos)
      << script;
  EXPECT_NE(script.find("with points pointtype 7 pointsize 0.8 linecolor '#0072b2' title "
                        "'measured: SET'"),
            std::string::npos)
      << script;
  EXPECT_NE(script.find("set xrange [0:*]\n"), std::string::npos);
}

TEST(Drawing, AnAxisCanBeLogarithmic) {
  Figure figure = drawn("7");
  figure.x.logarithmic = true;
  EXPECT_NE(drawing_script(figure, "7.svg").find("set logscale x\n"), std::string::npos);
}

TEST(Drawing, FiguresWithCurvesBecomePicturesWithoutEmptyGroups) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "falafel-drawing-test";
  std::filesystem::remove_all(folder);
  const std::vector<Figure> figures{drawn("5.6"),
                                    {.number = "table 1", .title = "", .x = {}, .y = {}}};
  const auto problem = draw(figures, folder.string());
  ASSERT_FALSE(problem.has_value()) << *problem;
  EXPECT_FALSE(std::filesystem::exists(folder / "table 1.svg"));
  std::ifstream file(folder / "5.6.svg");
  const std::string svg{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(svg.find("5.6: Throughput of clients"), std::string::npos);
  EXPECT_NE(svg.find("measured: SET"), std::string::npos);
  EXPECT_EQ(svg.find("<g >\n</g>"), std::string::npos);
  EXPECT_NE(svg.find("</svg>"), std::string::npos);
}

TEST(Drawing, AFolderThatCannotBeMadeIsAnError) {
  const auto problem = draw(std::vector<Figure>{drawn("5.6")}, "/dev/null/folder");
  ASSERT_TRUE(problem.has_value());
  EXPECT_NE(problem->find("/dev/null/folder"), std::string::npos);
}

}  // namespace
}  // namespace falafel::figures
