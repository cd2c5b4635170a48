// The pseudo-random numbers of one process, for rand, random, lrand48, drand48 and their relatives.
// They are those of the C library, with a state for each process. So a program that seeds them gets
// the numbers that it expects, such as those that its peer computes from the same seed. A run
// remains a function of its seed, because the times and process numbers that programs use as seeds
// are.
#pragma once

#include <array>
#include <cstdlib>

namespace falafel::simulated_verbs {

class RandomNumbers {
 public:
  RandomNumbers();
  RandomNumbers(const RandomNumbers&) = delete;
  RandomNumbers& operator=(const RandomNumbers&) = delete;

  void seed_random(unsigned seed) { srandom_r(seed, &random_); }
  long next_random();
  void seed_48(long seed) { srand48_r(seed, &of_48_bits_); }
  drand48_data& of_48_bits() { return of_48_bits_; }

 private:
  static constexpr std::size_t state_bytes = 128;  // as in the C library

  std::array<char, state_bytes> state_{};
  random_data random_{};
  drand48_data of_48_bits_{};
};

}  // namespace falafel::simulated_verbs
