// Distributions over the operations of a run: quantiles, and curves of the cumulative distribution.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/benchmarks/compare_stores/measurement.h"
#include "tools/benchmarks/figures/figure.h"

namespace falafel::figures {

// The latencies in microseconds, ascending.
std::vector<double> latencies_of(std::span<const compare_stores::OperationSample> samples);
// The value that this share of the ascending values does not exceed. There is one value at least.
double quantile(std::span<const double> ascending, double share);
// The percentage of values that are not larger, at some of them.
Series distribution_curve(std::string name, std::span<const double> ascending);

}  // namespace falafel::figures
