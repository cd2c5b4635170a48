#include "fabric/verbs/gid.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <boost/asio/ip/tcp.hpp>

namespace falafel::verbs {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

std::string to_string(const Gid& gid) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET6, gid.data(), text.data(), text.size());
  return text.data();
}

Result<Gid> resolve_gid(boost::asio::io_context& reactor, const std::string& name) {
  namespace ip = boost::asio::ip;
  boost::system::error_code error;
  const auto endpoints = ip::tcp::resolver(reactor).resolve(name, "", error);
  if (error) {
    return make_error(
        ErrorCode::unreachable,
        fmt::format("cannot resolve '{}' as a host name or an address: {}", name, error.message()));
  }
  const ip::address address = endpoints.begin()->endpoint().address();
  if (address.is_v6()) return address.to_v6().to_bytes();
  return ip::make_address_v6(ip::v4_mapped, address.to_v4()).to_bytes();
}

}  // namespace falafel::verbs
