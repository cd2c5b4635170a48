// Mutates histories so that they may become incorrect.
#pragma once

#include <vector>

#include "checkers/history.h"
#include "checkers/linearizability.h"
#include "fabric/random.h"

namespace falafel::checkers_test {

// Changes one property of one operation, which may or may not make the history incorrect.
void mutate(std::vector<checkers::Operation>& history, checkers::Model model,
            fabric::RandomGenerator& random);

}  // namespace falafel::checkers_test
