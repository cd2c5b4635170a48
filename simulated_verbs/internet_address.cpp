#include "simulated_verbs/internet_address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

namespace falafel::simulated_verbs {

std::optional<std::uint32_t> address_of_name(const Subnet& subnet, std::string_view name) {
  for (std::uint16_t lid = 1; const std::string* host = subnet.host_of(lid); ++lid) {
    if (*host == name || program_name_of(*host) == name) return address_of_lid(lid);
  }
  return std::nullopt;
}

std::string program_name_of(std::string_view host_name) {
  std::string name(host_name);
  std::ranges::replace(name, ' ', '-');
  return name;
}

sockaddr_in to_sockaddr(const Endpoint& endpoint) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(endpoint.port);
  address.sin_addr.s_addr = htonl(endpoint.address);
  return address;
}

Endpoint from_sockaddr(const sockaddr_in& address) {
  return {.address = ntohl(address.sin_addr.s_addr), .port = ntohs(address.sin_port)};
}

void write_sockaddr(const Endpoint& endpoint, sockaddr* destination, socklen_t* length) {
  const sockaddr_in address = to_sockaddr(endpoint);
  std::memcpy(destination, &address, std::min<std::size_t>(*length, sizeof address));
  *length = sizeof address;
}

}  // namespace falafel::simulated_verbs
