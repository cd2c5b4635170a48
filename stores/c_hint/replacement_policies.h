// The choice among the policies of replacement.
#pragma once

#include <memory>

#include "stores/c_hint/options.h"
#include "stores/c_hint/replacement.h"

namespace falafel::c_hint {

// The policy that Options::replacement names.
std::unique_ptr<Replacement> make_replacement(const Options& options);

}  // namespace falafel::c_hint
