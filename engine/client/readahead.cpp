#include "engine/client/readahead.h"

#include <algorithm>

namespace falafel::engine {

// With load = occupied / seen, the expected value is (2 seen - occupied) / (2 (seen - occupied)).
std::uint32_t expected_probes(std::uint64_t occupied, std::uint64_t seen, std::uint32_t most) {
  if (seen == 0) return 1;
  if (occupied >= seen) return most;
  const std::uint64_t numerator = 2 * seen - occupied;
  const std::uint64_t denominator = 2 * (seen - occupied);
  const std::uint64_t probes = (numerator + denominator - 1) / denominator;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(probes, most));
}

void LoadEstimate::add(std::uint64_t occupied, std::uint64_t seen) {
  occupied_ += occupied;
  seen_ += seen;
  if (seen_ > window_entries) {
    occupied_ /= 2;
    seen_ /= 2;
  }
}

}  // namespace falafel::engine
