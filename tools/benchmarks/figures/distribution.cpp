#include "tools/benchmarks/figures/distribution.h"

#include <algorithm>
#include <utility>

#include "fabric/assert.h"

namespace falafel::figures {

std::vector<double> latencies_of(std::span<const compare_stores::OperationSample> samples) {
  std::vector<double> latencies;
  latencies.reserve(samples.size());
  for (const compare_stores::OperationSample& sample : samples) {
    latencies.push_back(sample.latency_us);
  }
  std::ranges::sort(latencies);
  return latencies;
}

double quantile(std::span<const double> ascending, double share) {
  FALAFEL_ASSERT(!ascending.empty(), "a distribution of no values has no quantile {}", share);
  const auto index = static_cast<std::size_t>(share * static_cast<double>(ascending.size()));
  return ascending[std::min(index, ascending.size() - 1)];
}

Series distribution_curve(std::string name, std::span<const double> ascending) {
  Series series{.name = std::move(name)};
  for (int percent = 0; percent <= 100; percent += 2) {
    series.points.push_back({quantile(ascending, percent / 100.0), static_cast<double>(percent)});
  }
  return series;
}

}  // namespace falafel::figures
