// The definition of linearizability as a program: tries all orders that respect time on a map of
// strings. Shares no code with the checker. Takes time exponential in the number of operations.
#pragma once

#include <span>

#include "checkers/history.h"
#include "checkers/linearizability.h"

namespace falafel::checkers_test {

bool is_linearizable(std::span<const checkers::Operation> history, checkers::Model model);

}  // namespace falafel::checkers_test
