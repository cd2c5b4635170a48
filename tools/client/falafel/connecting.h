// Connecting to a server by its name, with what went wrong told in terms of a caller.
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

// Whether the system has refused something to this user. The fabric quotes the system, and has no code of
// its own for it.
bool is_about_permission(const fabric::Error& error);

// Of a fabric or a host that could not be made.
OpenError explain_fabric_error(const fabric::Error& error);
// Of a connection that failed.
OpenError explain_connect_error(const fabric::Error& error, const Fabric& fabric,
                                const std::string& server);

}  // namespace falafel
