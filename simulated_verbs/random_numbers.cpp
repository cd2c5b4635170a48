#include "simulated_verbs/random_numbers.h"

#include <cstdint>

namespace falafel::simulated_verbs {

RandomNumbers::RandomNumbers() { initstate_r(1, state_.data(), state_.size(), &random_); }

long RandomNumbers::next_random() {
  std::int32_t number = 0;
  random_r(&random_, &number);
  return number;
}

}  // namespace falafel::simulated_verbs
