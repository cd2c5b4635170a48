// Generates random histories of queues, stacks, priority queues, registers and sets whose values
// differ. Each operation takes effect at one moment between its call and its return; one without an
// answer takes effect at some moment after its call, or never. All clients have an operation in
// flight all the time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "checkers/specification_history.h"
#include "fabric/random.h"

namespace falafel::checkers::generators {

struct ObjectHistoryOptions {
  std::size_t operations = 100;
  std::uint32_t clients = 4;
  std::uint64_t unanswered_permille = 0;
  // Exchanges answers so that the history is not linearizable, if there are answers that fit.
  bool plants_violation = false;
};

// S: Queue, Stack, PriorityQueue, Register or Set of checkers::specifications.
template <typename S>
std::vector<checkers::Call<S>> random_object_history(const ObjectHistoryOptions& options,
                                                     fabric::RandomGenerator& random);

}  // namespace falafel::checkers::generators
