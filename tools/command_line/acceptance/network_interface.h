// A network interface of this machine, which can be taken down as if its cable were pulled.
#pragma once

#include <string>

namespace falafel::acceptance {

// Returns what went wrong; empty: nothing. Only the superuser may.
std::string set_interface(const std::string& name, bool is_up);

}  // namespace falafel::acceptance
