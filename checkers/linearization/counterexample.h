// Describes counterexamples to linearizability in words.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "checkers/history.h"

namespace falafel::checkers::linearization {

// `prefix` lists operations, as positions in the history, in a correct order. `unfitting` lists the
// operations that cannot come next, with the one that returns first in front. `operations` is the
// number of operations on the key, and `most_listed` the number of prefix operations to list. With
// `initially_empty`, the key is initially an empty string instead of absent.
std::string explain_violation(std::span<const Operation> history,
                              std::span<const std::size_t> prefix,
                              std::span<const std::size_t> unfitting, std::size_t operations,
                              std::size_t most_listed, bool initially_empty);

}  // namespace falafel::checkers::linearization
