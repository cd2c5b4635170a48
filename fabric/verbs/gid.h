// GIDs are the addresses of ports. On Ethernet (RoCE v2), the GID of an IPv4 address is that
// address, mapped into IPv6.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <string>

#include "fabric/error.h"

namespace falafel::verbs {

using Gid = std::array<std::uint8_t, 16>;

// The number of routers that a packet may pass.
inline constexpr std::uint8_t hop_limit = 64;

// As `ibv_devinfo -v` prints it.
std::string to_string(const Gid& gid);

// Returns the GID for the address of this name. Errors: unreachable (no such name).
fabric::Result<Gid> resolve_gid(boost::asio::io_context& reactor, const std::string& name);

}  // namespace falafel::verbs
