// Pseudorandom numbers: splitmix64 (Steele, Lea and Flood 2014). It is fast, needs one word of
// state, and returns the same numbers for the same seed on every machine and compiler.
// fabric/realtime/system_random.h provides unpredictable numbers.
#pragma once

#include <cstdint>

namespace falafel::fabric {

// Advances the state and returns the next number of its sequence. Any state is a good seed.
inline std::uint64_t splitmix64(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t mixed = state;
  mixed = (mixed ^ mixed >> 30U) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ mixed >> 27U) * 0x94d049bb133111ebU;
  return mixed ^ mixed >> 31U;
}

class RandomGenerator {
 public:
  explicit RandomGenerator(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() { return splitmix64(state_); }

  // Returns a number below `bound`, or any 64 bits if `bound` is 0 (as in a ChoicePoint). Using the
  // high half of a product avoids a division. It favors some numbers by bound / 2^64, which no
  // campaign can detect.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t number = next();
    if (bound == 0) return number;
    return static_cast<std::uint64_t>(static_cast<Uint128>(number) * bound >> 64U);
  }

 private:
  __extension__ using Uint128 = unsigned __int128;

  std::uint64_t state_;
};

}  // namespace falafel::fabric
