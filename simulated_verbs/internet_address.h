// Internet addresses of the subnet: the host with LID n is 10.0.0.0 + n.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "simulated_verbs/subnet.h"

namespace falafel::simulated_verbs {

struct Endpoint {
  std::uint32_t address = 0;  // IPv4, in the host's byte order; 0: any
  std::uint16_t port = 0;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

inline constexpr std::uint32_t any_address = 0;
inline constexpr std::uint32_t loopback_address = 0x7f000001;  // 127.0.0.1

constexpr std::uint32_t address_of_lid(std::uint16_t lid) { return 0x0a000000U + lid; }
constexpr bool is_loopback(std::uint32_t address) { return address >> 24U == 0x7fU; }

// The host's address; a host "client 0" is also called "client-0". Nothing if there is none.
std::optional<std::uint32_t> address_of_name(const Subnet& subnet, std::string_view name);
// The name of a host as a program sees it: "client-0".
std::string program_name_of(std::string_view host_name);

sockaddr_in to_sockaddr(const Endpoint& endpoint);
Endpoint from_sockaddr(const sockaddr_in& address);
// As the kernel does: cuts off what does not fit, and sets `length` to the whole length.
void write_sockaddr(const Endpoint& endpoint, sockaddr* destination, socklen_t* length);

}  // namespace falafel::simulated_verbs
