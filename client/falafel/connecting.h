// Connects to a server by name and explains errors in the caller's terms.
#pragma once

#include <string>

#include "engine/server/server.h"
#include "fabric/error.h"
#include "falafel/fabric_choice.h"
#include "falafel/open_error.h"

namespace falafel {

inline fabric::Address address_of(const std::string& server) {
  return {.host = server, .service = engine::ServerOptions{}.service};
}

// Returns whether the system denied access to this user. The fabric quotes the system's message and
// has no separate code for it.
bool is_about_permission(const fabric::Error& error);

// Explains why a fabric or a host could not be created.
OpenError explain_fabric_error(const fabric::Error& error);
// Explains why a connection failed.
OpenError explain_connect_error(const fabric::Error& error, const Fabric& fabric,
                                const std::string& server);

}  // namespace falafel
