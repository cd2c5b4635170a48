// Generates random histories of a linearizable store: each operation takes effect at one moment
// between its call and its return.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "checkers/history.h"
#include "checkers/linearizability.h"
#include "fabric/random.h"

namespace falafel::checkers::generators {

struct HistoryOptions {
  checkers::Model model = checkers::Model::key_value_register;
  std::size_t operations = 100;
  std::uint32_t clients = 4;
  std::uint64_t keys = 1;
  std::uint64_t values = 4;  // number of values that sets choose from; 0: each set writes a new one
  std::uint64_t lost_permille = 0;  // share of answers that never arrive
  std::uint64_t get_permille = 500;
};

std::vector<checkers::Operation> random_history(const HistoryOptions& options,
                                                fabric::RandomGenerator& random);

}  // namespace falafel::checkers::generators
