// The generated programs of docs/litmus.md on a device: two clients, which are queue pairs of this
// side, post up to three requests each to two words. The axioms of the rules say which outcomes are
// allowed.
#pragma once

#include "tools/command_line/acceptance/litmus.h"

namespace falafel::acceptance {

Shape generated_programs_shape();

}  // namespace falafel::acceptance
