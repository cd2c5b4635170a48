// Random numbers with zipfian popularity, after Gray et al. (Quickly Generating Billion-Record
// Synthetic Databases, SIGMOD 1994), as in YCSB (ZipfianGenerator, ScrambledZipfianGenerator).
#pragma once

#include <cmath>
#include <cstdint>

#include "fabric/random.h"

namespace falafel::store_benchmark {

inline constexpr double zipfian_constant = 0.99;

// The sum of 1 / i^0.99 over i = first + 1 .. last.
inline double zeta(std::uint64_t first, std::uint64_t last) {
  double sum = 0;
  for (std::uint64_t item = first; item < last; ++item) {
    sum += 1 / std::pow(static_cast<double>(item + 1), zipfian_constant);
  }
  return sum;
}

// Ranks from 0, the most popular one, to items - 1.
class Zipfian {
 public:
  explicit Zipfian(std::uint64_t items) : Zipfian(items, zeta(0, items)) {}
  // `zeta_of_items` is zeta(0, items), which takes long to compute if there are many items.
  Zipfian(std::uint64_t items, double zeta_of_items) : items_(items), zeta_(zeta_of_items) {
    prepare();
  }

  std::uint64_t next(fabric::RandomGenerator& random) const {
    constexpr double two_to_the_53 = 9'007'199'254'740'992.0;
    const double uniform = static_cast<double>(random.next() >> 11U) / two_to_the_53;
    const double scaled = uniform * zeta_;
    if (scaled < 1) return 0;
    if (scaled < 1 + half_power_) return items_ > 1 ? 1 : 0;
    const auto rank = static_cast<std::uint64_t>(static_cast<double>(items_) *
                                                 std::pow(eta_ * uniform - eta_ + 1, alpha));
    return rank < items_ ? rank : items_ - 1;
  }

  // Adds an item, which is the least popular one.
  void add_item() {
    zeta_ += zeta(items_, items_ + 1);
    ++items_;
    prepare();
  }

  std::uint64_t items() const { return items_; }

 private:
  void prepare() {
    const auto items = static_cast<double>(items_);
    eta_ = (1 - std::pow(2 / items, 1 - zipfian_constant)) / (1 - zeta(0, 2) / zeta_);
  }

  static constexpr double alpha = 1 / (1 - zipfian_constant);
  std::uint64_t items_;
  double zeta_;
  double eta_ = 0;
  double half_power_ = std::pow(0.5, zipfian_constant);
};

// FNV-1a over the eight bytes, as in YCSB (Utils.fnvhash64).
constexpr std::uint64_t scatter(std::uint64_t number) {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
  for (int byte = 0; byte < 8; ++byte) {
    hash ^= number & 0xffU;
    hash *= 1'099'511'628'211;
    number >>= 8U;
  }
  return hash >> 63U == 0 ? hash : 0 - hash;  // the absolute value as a signed number
}

// Scatters the popular numbers among the items. The ranks come from ten thousand million items, so
// the popularity of the most popular number is independent of the number of items (3.8 % of all
// draws, as in YCSB).
class ScrambledZipfian {
 public:
  explicit ScrambledZipfian(std::uint64_t items) : items_(items) {}

  std::uint64_t next(fabric::RandomGenerator& random) const {
    return scatter(ranks_.next(random)) % items_;
  }

 private:
  static constexpr std::uint64_t rank_count = 10'000'000'000;
  static constexpr double zeta_of_rank_count = 26.469'028'201'783'02;  // the value that YCSB uses

  std::uint64_t items_;
  Zipfian ranks_{rank_count, zeta_of_rank_count};
};

}  // namespace falafel::store_benchmark
