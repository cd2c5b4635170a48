// Counterexamples to linearizability, in words.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "checkers/history.h"

namespace falafel::checkers::linearization {

// `prefix`: operations, as positions in the history, in an order that can be right; `unfitting`: those
// of which none can come next, first the one that returns first. `operations`: how many there are on
// the key; `most_listed`: how many of the prefix are listed. `initially_empty`: the key is an empty string at first, not absent.
std::string explain_violation(std::span<const Operation> history,
                              std::span<const std::size_t> prefix,
                              std::span<const std::size_t> unfitting, std::size_t operations,
                              std::size_t most_listed, bool initially_empty);

}  // namespace falafel::checkers::linearization
