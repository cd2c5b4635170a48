// Histories with a mistake, perhaps.
#pragma once

#include <vector>

#include "checkers/history.h"
#include "checkers/linearizability.h"
#include "fabric/random.h"

namespace falafel::checkers_test {

// Changes something of one operation, which may or may not make the history wrong.
void mutate(std::vector<checkers::Operation>& history, checkers::Model model,
            fabric::RandomGenerator& random);

}  // namespace falafel::checkers_test
