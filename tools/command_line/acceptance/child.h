// Parts of an acceptance run in processes of their own: a part that crashes or hangs costs its own
// results only, and a process that opens a device must not have forked others from it.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <tl/expected.hpp>

#include "fabric/fabric.h"
#include "falafel/fabric_options.h"

namespace falafel::acceptance {

// For a child whose work takes seconds.
inline constexpr std::chrono::seconds limit_of_child{600};

// Runs the body in a child process and returns its result. Errors: the body threw, the process
// died, or it did not end in time and was killed; the text says where it was. The calling process
// must not have threads.
tl::expected<nlohmann::json, std::string> run_in_child(std::chrono::seconds limit,
                                                       const std::function<nlohmann::json()>& body);

// Opens the fabric, and runs the body as the program of a client's host. Throws std::runtime_error
// if there is no such host.
nlohmann::json run_on_host(const FabricOptions& options,
                           const std::function<nlohmann::json(fabric::Host&)>& body);

}  // namespace falafel::acceptance
