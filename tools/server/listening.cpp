#include "tools/server/listening.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <charconv>
#include <optional>
#include <sstream>

namespace falafel::server_program {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using Tcp = asio::ip::tcp;

std::optional<Tcp::endpoint> parse(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  std::string host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  error_code error;
  const asio::ip::address address = asio::ip::make_address(host, error);
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data() + colon + 1, end, port);
  if (error || parsed.ec != std::errc() || parsed.ptr != end) return std::nullopt;
  return Tcp::endpoint(address, port);
}

fabric::ErrorCode code_of_binding(const error_code& error) {
  if (error == asio::error::address_in_use) return fabric::ErrorCode::address_in_use;
  if (error == asio::error::access_denied) return fabric::ErrorCode::access_denied;
  return fabric::ErrorCode::invalid_argument;
}

}  // namespace

std::string problem_of_address(const std::string& address) {
  if (parse(address)) return {};
  const std::string port = address.substr(address.starts_with(':') ? 1 : 0);
  const bool is_port = !port.empty() && std::ranges::all_of(port, [](char character) {
    return character >= '0' && character <= '9';
  });
  return fmt::format("'{}' is not an address and port; use the form 127.0.0.1:{}", address,
                     is_port ? port : "9100");
}

fabric::Result<Tcp::acceptor> listen_at(asio::io_context& context, std::string_view option,
                                        const std::string& address) {
  const auto endpoint = parse(address);
  if (!endpoint) {
    return fabric::make_error(fabric::ErrorCode::invalid_argument,
                              fmt::format("{}: {}", option, problem_of_address(address)));
  }
  try {
    Tcp::acceptor acceptor(context);
    acceptor.open(endpoint->protocol());
    acceptor.set_option(Tcp::acceptor::reuse_address(true));
    acceptor.bind(*endpoint);
    acceptor.listen();
    return acceptor;
  } catch (const boost::system::system_error& error) {
    return fabric::make_error(code_of_binding(error.code()),
                              fmt::format("{} {}: {}; choose another address or port", option,
                                          address, error.code().message()));
  }
}

std::string address_of(const Tcp::acceptor& acceptor) {
  std::ostringstream text;
  text << acceptor.local_endpoint();
  return text.str();
}

}  // namespace falafel::server_program
