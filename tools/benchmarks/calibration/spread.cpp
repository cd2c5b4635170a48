#include "tools/benchmarks/calibration/spread.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fabric/assert.h"

namespace falafel::calibration {

// The values below the true median are as many as heads among tosses of a coin, whatever the
// quantity's distribution. 0.98 is half of the 1.96 standard deviations that 95 % lie within.
Spread spread_of(std::vector<double> values) {
  FALAFEL_ASSERT(!values.empty(), "nothing was measured");
  std::ranges::sort(values);
  const auto count = static_cast<double>(values.size());
  const auto rank = std::max(1L, std::lround(count / 2 - 0.98 * std::sqrt(count)));
  const auto below = static_cast<std::size_t>(rank - 1);
  return {.median = values[values.size() / 2],
          .low = values[below],
          .high = values[values.size() - 1 - below],
          .values = values.size()};
}

std::string to_text(const Spread& spread) {
  return fmt::format("{:.3f} ({:.3f} to {:.3f} in {} round{})", spread.median, spread.low,
                     spread.high, spread.values, spread.values == 1 ? "" : "s");
}

}  // namespace falafel::calibration
