// The text format of Prometheus that clients export.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "falafel/metrics.h"

namespace falafel {
namespace {

using engine::Answer;
using engine::Operation;

StoreMetrics metrics_of(std::string server, const std::vector<std::uint64_t>& get_durations_ns) {
  StoreMetrics metrics;
  metrics.server = std::move(server);
  metrics.connected_stores = 1;
  OperationMetrics& gets = metrics.operations[static_cast<std::size_t>(Operation::get)];
  for (const std::uint64_t duration_ns : get_durations_ns) {
    ++gets.answers[static_cast<std::size_t>(Answer::found)];
    gets.latencies_ns.record(duration_ns);
    gets.latencies_sum_ns += duration_ns;
  }
  return metrics;
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(MetricsText, BucketsAreCumulativeAndExact) {
  const std::vector<StoreMetrics> metrics{metrics_of("one", {255, 256, 300, 400, 2'000'000'000})};
  const std::string text = to_prometheus(metrics);
  const std::string bucket =
      "falafel_client_operation_seconds_bucket{server=\"one\",operation=\"get\",le=";
  EXPECT_TRUE(has_line(text, bucket + "\"2.56e-07\"} 1")) << text;
  EXPECT_TRUE(has_line(text, bucket + "\"3.84e-07\"} 3"));
  EXPECT_TRUE(has_line(text, bucket + "\"5.12e-07\"} 4"));
  EXPECT_TRUE(has_line(text, bucket + "\"1.610612736\"} 4"));
  EXPECT_TRUE(has_line(text, bucket + "\"2.147483648\"} 5"));
  EXPECT_TRUE(has_line(text, bucket + "\"+Inf\"} 5"));
  const std::string labels = "{server=\"one\",operation=\"get\"}";
  EXPECT_TRUE(has_line(text, "falafel_client_operation_seconds_count" + labels + " 5"));
  EXPECT_TRUE(has_line(text, "falafel_client_operation_seconds_sum" + labels + " 2.000001211"));
}

TEST(MetricsText, StoresOfOneServerAreAddedUpAndNamesOccurOnce) {
  const std::vector<StoreMetrics> metrics{metrics_of("one", {100}), metrics_of("two", {100}),
                                          metrics_of("one", {100, 100})};
  const std::string text = to_prometheus(metrics);
  const auto found = [](const std::string& server) {
    return "falafel_client_operations_total{server=\"" + server +
           "\",operation=\"get\",outcome=\"found\"}";
  };
  EXPECT_TRUE(has_line(text, found("one") + " 3")) << text;
  EXPECT_TRUE(has_line(text, found("two") + " 1"));
  EXPECT_TRUE(has_line(text, "falafel_client_stores{server=\"one\"} 2"));
  EXPECT_TRUE(has_line(text, "falafel_client_connected_stores{server=\"one\"} 2"));
  EXPECT_EQ(count_of(text, "# TYPE falafel_client_operations_total counter"), 1U);
  EXPECT_EQ(count_of(text, "# TYPE falafel_client_stores gauge"), 1U);
}

// So that rates are right from the first operation on.
TEST(MetricsText, OutcomesThatHaveNotOccurredAreZero) {
  const std::vector<StoreMetrics> metrics{metrics_of("one", {})};
  const std::string text = to_prometheus(metrics);
  const std::string prefix = "falafel_client_operations_total{server=\"one\",operation=";
  EXPECT_TRUE(has_line(text, prefix + "\"set\",outcome=\"unknown_outcome\"} 0")) << text;
  EXPECT_TRUE(has_line(text, prefix + "\"delete\",outcome=\"not_found\"} 0"));
  EXPECT_EQ(text.find("operation=\"get\",outcome=\"stored\""), std::string::npos);
}

TEST(MetricsText, LabelsAreEscaped) {
  const std::vector<StoreMetrics> metrics{metrics_of("a\"b\\c\nd", {})};
  EXPECT_NE(to_prometheus(metrics).find("server=\"a\\\"b\\\\c\\nd\""), std::string::npos);
}

}  // namespace
}  // namespace falafel
