// The pseudorandom numbers of the simulator: splitmix64 (Steele, Lea and Flood 2014), because a step
// draws several and little else happens in it. The same seed gives the same numbers on every machine.
#pragma once

#include <cstdint>
#include <utility>

namespace falafel::sim {

// Advances the state and returns the next number of its sequence. Any state is as good as another.
inline std::uint64_t splitmix64(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t mixed = state;
  mixed = (mixed ^ mixed >> 30U) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ mixed >> 27U) * 0x94d049bb133111ebU;
  return mixed ^ mixed >> 31U;
}

// The next number is ready before it is asked for: what is asked for decides branches that no processor guesses,
// and they would wait for it.
class RandomGenerator {
 public:
  explicit RandomGenerator(std::uint64_t seed) : state_(seed), upcoming_(splitmix64(state_)) {}

  std::uint64_t next() { return std::exchange(upcoming_, splitmix64(state_)); }

  // A number below `bound`; bound 0: any 64 bits, as in a ChoicePoint. The high half of a product
  // takes no division; that some numbers are likelier by bound / 2^64, no campaign could ever see.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t number = next();
    if (bound == 0) return number;
    return static_cast<std::uint64_t>(static_cast<Uint128>(number) * bound >> 64U);
  }

 private:
  __extension__ using Uint128 = unsigned __int128;

  std::uint64_t state_;
  std::uint64_t upcoming_;
};

}  // namespace falafel::sim
