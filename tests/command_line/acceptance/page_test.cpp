// Verdicts of parts and runs, their way through JSON, and the page.
#include <gtest/gtest.h>

#include "tools/command_line/acceptance/calibration_part.h"
#include "tools/command_line/acceptance/page.h"
#include "tools/command_line/acceptance/stamps.h"

namespace falafel::acceptance {
namespace {

Row row(Verdict verdict) {
  return {.name = "a <row>",
          .source = "rule 1",
          .expected = "x",
          .observed = "y & z",
          .verdict = verdict};
}

PartReport part(std::vector<Row> rows) {
  return {.title = "Part", .about = "About it.", .rows = std::move(rows), .seconds = 3};
}

TEST(AcceptanceReport, TheWorstRowDecides) {
  EXPECT_EQ(part({}).verdict(), Verdict::not_done);
  EXPECT_EQ(part({row(Verdict::not_tried)}).verdict(), Verdict::not_tried);
  EXPECT_EQ(part({row(Verdict::held), row(Verdict::counted), row(Verdict::not_tried)}).verdict(),
            Verdict::held);
  EXPECT_EQ(part({row(Verdict::held), row(Verdict::not_done)}).verdict(), Verdict::not_done);
  EXPECT_EQ(part({row(Verdict::violated), row(Verdict::not_done)}).verdict(), Verdict::violated);
}

TEST(AcceptanceReport, ARunIsAsBadAsItsWorstPart) {
  AcceptanceReport report;
  EXPECT_EQ(report.verdict(), Verdict::not_done);
  report.parts = {part({row(Verdict::held)}), part({row(Verdict::not_tried)})};
  EXPECT_EQ(report.verdict(), Verdict::held);
  report.parts.push_back(part({row(Verdict::not_done)}));
  EXPECT_EQ(report.verdict(), Verdict::not_done);
  report.parts.push_back(part({row(Verdict::violated)}));
  EXPECT_EQ(report.verdict(), Verdict::violated);
  EXPECT_EQ(summary_of(report), "1 of 4 rows are VIOLATED. 1 could not be done.");
}

TEST(AcceptanceReport, TravelsAsJson) {
  const PartReport before = part({row(Verdict::violated), row(Verdict::counted)});
  const PartReport after = part_from_json(to_json(before));
  EXPECT_EQ(to_json(after), to_json(before));
  EXPECT_EQ(after.rows[0].verdict, Verdict::violated);
  EXPECT_EQ(after.rows[1].observed, "y & z");
}

TEST(AcceptancePage, ShowsEveryRowAndEscapesIt) {
  AcceptanceReport report{.fabric = "verbs",
                          .command = "falafel acceptance",
                          .begun = "today",
                          .is_on_hardware = true,
                          .own_version = "1",
                          .other_version = "2"};
  report.parts = {part({row(Verdict::violated), row(Verdict::not_tried)})};
  const std::string page = to_page(report);
  EXPECT_NE(page.find("a &lt;row&gt;"), std::string::npos);
  EXPECT_NE(page.find("y &amp; z"), std::string::npos);
  EXPECT_NE(page.find("VIOLATED"), std::string::npos);
  EXPECT_NE(page.find("<li>Part: a &lt;row&gt; (y &amp; z)</li>"), std::string::npos);
  EXPECT_EQ(page.find("Not tried on hardware"), std::string::npos);
  report.other_machine = "machine: server\nport: 4: ACTIVE\nunknown";
  EXPECT_NE(to_page(report).find("<tr><td>machine</td><td>server</td></tr>\n"
                                 "<tr><td>port</td><td>4: ACTIVE</td></tr>\n"
                                 "<tr><td>unknown</td><td></td></tr>\n"),
            std::string::npos);
  report.is_on_hardware = false;
  EXPECT_NE(to_page(report).find("Not tried on hardware"), std::string::npos);
}

TEST(AcceptanceCalibration, ShowsThePredictionBesideTheMeasurement) {
  calibration::Measurement measured;
  measured.loads = {{.load = {}, .cost = {.latency_ns = 2'000, .interval_ns = 0, .busy_ns = 0}}};
  measured.store = {.absent_ns = 3'000, .present_ns = 6'000};
  calibration::Measurement predicted = measured;
  predicted.loads[0].cost.latency_ns = 2'200;
  const auto rows = rows_of(measured, predicted);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].expected, "2200.0 ns by the profile");
  EXPECT_EQ(rows[0].observed, "2000.0 ns measured (+10.0 %)");
  EXPECT_EQ(rows[2].observed, "6000.0 ns measured (+0.0 %)");
  predicted.store.present_ns = 5'999.9;
  EXPECT_EQ(rows_of(measured, predicted)[2].observed, "6000.0 ns measured (+0.0 %)");
}

// Every mixture of two consecutive stamps, at any byte, is recognized.
TEST(AcceptanceStamps, AMixtureIsNoStamp) {
  for (std::uint32_t count = 0; count < 1'000; ++count) {
    ASSERT_EQ(count_of(stamp_of(count)), count);
    for (std::uint32_t bytes = 1; bytes < 8; ++bytes) {
      const std::uint64_t mask = ~std::uint64_t{0} << (8 * bytes);
      const std::uint64_t mixed = (stamp_of(count) & mask) | (stamp_of(count + 1) & ~mask);
      if (mixed == stamp_of(count) || mixed == stamp_of(count + 1)) continue;
      ASSERT_EQ(count_of(mixed), std::nullopt) << count << " " << bytes;
    }
  }
}

}  // namespace
}  // namespace falafel::acceptance
