// Counts ages in seconds. Each bucket ends at four times the end of the one before, because an
// operator asks whether values live for seconds, minutes, hours or days.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace falafel::engine {

struct AgeHistogram {
  // The greatest age of each bucket but the last, which has all greater ones.
  static constexpr std::array<std::uint64_t, 11> ends_s{
      1, 4, 16, 64, 256, 1'024, 4'096, 16'384, 65'536, 262'144, 1'048'576};

  std::array<std::uint64_t, ends_s.size() + 1> counts{};
  std::uint64_t sum_s = 0;  // of all ages

  void record(std::uint64_t age_s) {
    std::size_t bucket = 0;
    while (bucket < ends_s.size() && age_s > ends_s[bucket]) ++bucket;
    ++counts[bucket];
    sum_s += age_s;
  }
};

}  // namespace falafel::engine
