// Counts durations in buckets whose width grows with the duration, as HdrHistogram does (Tene).
// There are 64 buckets per power of two, so percentiles are accurate to 1.6 percent. Debian has no
// package of HdrHistogram for C or C++. The class is trivially copyable, so that processes can
// share it in memory.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace falafel {

class LatencyHistogram {
 public:
  static constexpr unsigned precision_bits = 6;
  static constexpr std::uint64_t buckets_per_power = std::uint64_t{1} << precision_bits;
  static constexpr std::size_t bucket_count = (64 - precision_bits + 1) * buckets_per_power;

  static constexpr std::size_t bucket_of(std::uint64_t duration) {
    if (duration < buckets_per_power) return duration;
    const unsigned shift = static_cast<unsigned>(std::bit_width(duration)) - precision_bits - 1;
    return (shift << precision_bits) + (duration >> shift);
  }

  void record(std::uint64_t duration) {
    ++counts_[bucket_of(duration)];
    ++count_;
    greatest_ = std::max(greatest_, duration);
  }
  // Adds durations that were counted elsewhere, in buckets of the same boundaries. It knows only
  // their buckets, so greatest() may be the end of a bucket.
  void add(std::size_t bucket, std::uint64_t count) {
    if (count == 0) return;
    counts_[bucket] += count;
    count_ += count;
    greatest_ = std::max(greatest_, end_of(bucket));
  }

  LatencyHistogram& operator+=(const LatencyHistogram& other) {
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
      counts_[bucket] += other.counts_[bucket];
    }
    count_ += other.count_;
    greatest_ = std::max(greatest_, other.greatest_);
    return *this;
  }

  std::uint64_t count() const { return count_; }
  std::uint64_t greatest() const { return greatest_; }

  // The smallest duration that at least `fraction` of all durations do not exceed, rounded up to
  // the end of its bucket; 0 if there are none.
  std::uint64_t quantile(double fraction) const {
    const auto wanted =
        static_cast<std::uint64_t>(std::llround(fraction * static_cast<double>(count_)));
    std::uint64_t seen = 0;
    for (std::size_t bucket = 0; bucket < bucket_count; ++bucket) {
      seen += counts_[bucket];
      if (seen > 0 && seen >= wanted) return std::min(end_of(bucket), greatest_);
    }
    return greatest_;
  }

  // The number of durations below `limit`: exact if the limit is the start of a bucket, as each
  // power of two and its multiples by 1.25, 1.5 and 1.75 are.
  std::uint64_t count_below(std::uint64_t limit) const {
    std::uint64_t below = 0;
    for (std::size_t bucket = 0; bucket < bucket_of(limit); ++bucket) below += counts_[bucket];
    return below;
  }

 private:
  static std::uint64_t end_of(std::size_t bucket) {
    if (bucket < 2 * buckets_per_power) return bucket;
    const std::size_t shift = (bucket >> precision_bits) - 1;
    const std::uint64_t leading = bucket - (shift << precision_bits);
    return ((leading + 1) << shift) - 1;
  }

  std::array<std::uint64_t, bucket_count> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t greatest_ = 0;
};

}  // namespace falafel
