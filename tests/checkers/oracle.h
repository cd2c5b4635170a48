// The definition of linearizability, carried out: all orders that respect time are tried on a map of
// strings. Shares nothing with the checker. Takes time exponential in the operations.
#pragma once

#include <span>

#include "checkers/history.h"
#include "checkers/linearizability.h"

namespace falafel::checkers_test {

bool is_linearizable(std::span<const checkers::Operation> history, checkers::Model model);

}  // namespace falafel::checkers_test
