// Hit ratios of the systems that C-Hint is compared with (C-Hint 5.2), without a network: the
// server's directory and the clients' pointer caches carry out a trace of GETs and SETs. Time
// passes evenly with the operations. As in YCSB, with which the paper measured, clients first store
// all pairs, in the order of their numbers, and the popular pairs are scattered among the numbers.
// Each pair has a rank of its own, because those of YCSB are drawn from a number of ranks that does
// not shrink with the pairs (docs/stores/c-hint.md).
//
// Everything is smaller than in the paper by the same factor: pairs, operations, memory, and with
// the length of the run also leases and the interval of reports. The backend has all pairs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stores/c_hint/options.h"

namespace falafel::c_hint_ratios {

enum class Popularity : std::uint8_t {
  by_number,  // the lower a pair's number, the more popular it is
  scattered
};

struct Trace {
  std::uint64_t pairs = 80'000;
  std::uint64_t operations = 300'000;
  std::uint64_t sets_per_hundred = 5;
  std::uint64_t clients = 36;
  std::uint64_t operations_per_second = 1'200'000;
  bool stores_all_first = true;  // takes time, but no GET of it is counted
  Popularity popularity = Popularity::scattered;
  std::uint64_t seed = 1;
};

// Ratios of all GETs.
struct Ratios {
  double pointer_hits = 0;  // by READ
  double hits = 0;          // by READ, or by a message without asking the backend
};

// The memory that an item of a key of 23 bytes and a value of 1,024 bytes takes.
inline constexpr std::uint64_t item_bytes = 1'080;

// A system of the paper, with leases and intervals that are shorter by `factor`. `items` is a power
// of two.
struct System {
  std::string name;
  c_hint::Options options;
};
std::vector<System> systems(std::uint64_t items, std::uint64_t factor);

Ratios run(const c_hint::Options& options, const Trace& trace);

}  // namespace falafel::c_hint_ratios
