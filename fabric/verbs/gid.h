// GIDs: the addresses of ports. On Ethernet (RoCE v2) that of an IPv4 address is this address, mapped into
// IPv6.
#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <string>

#include "fabric/error.h"

namespace falafel::verbs {

using Gid = std::array<std::uint8_t, 16>;

// Routers that a packet may pass.
inline constexpr std::uint8_t hop_limit = 64;

// As `ibv_devinfo -v` prints it.
std::string to_string(const Gid& gid);

// Of the address of that name. Errors: unreachable (no such name).
fabric::Result<Gid> resolve_gid(boost::asio::io_context& reactor, const std::string& name);

}  // namespace falafel::verbs
