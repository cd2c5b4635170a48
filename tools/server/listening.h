// Listens on a TCP address that an option of a command gives.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <string>
#include <string_view>

#include "fabric/error.h"

namespace falafel::server_program {

// `address` is ADDRESS:PORT, such as 127.0.0.1:9100 or [::1]:9100; port 0 selects a free port.
// Errors, which name `option`: invalid_argument, address_in_use, access_denied.
fabric::Result<boost::asio::ip::tcp::acceptor> listen_at(boost::asio::io_context& context,
                                                         std::string_view option,
                                                         const std::string& address);

// The address on which it listens, as ADDRESS:PORT.
std::string address_of(const boost::asio::ip::tcp::acceptor& acceptor);

}  // namespace falafel::server_program
