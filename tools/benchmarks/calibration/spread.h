// How well the median of a quantity is known that was measured several times.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace falafel::calibration {

// The true median lies between `low` and `high` with a probability of about 95 %. Fewer than six
// values cannot show that much; the interval is then from the least of them to the greatest.
struct Spread {
  double median = 0;
  double low = 0;
  double high = 0;
  std::size_t values = 0;
};

// There must be at least one value. Of an even number, the greater of the middle ones counts.
Spread spread_of(std::vector<double> values);

// For example "12.5 (9.1 to 14.0 in 5 rounds)".
std::string to_text(const Spread& spread);

}  // namespace falafel::calibration
