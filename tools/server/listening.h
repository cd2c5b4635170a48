// Listens on a TCP address that an option of a command gives, and pauses when accepting fails.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "fabric/error.h"

namespace falafel::server_program {

// `address` is ADDRESS:PORT, such as 127.0.0.1:9100 or [::1]:9100; port 0 selects a free port.
// Errors, which name `option`: invalid_argument, address_in_use, access_denied.
fabric::Result<boost::asio::ip::tcp::acceptor> listen_at(boost::asio::io_context& context,
                                                         std::string_view option,
                                                         const std::string& address);

// Says why listen_at() would not understand the address; otherwise empty.
std::string problem_of_address(const std::string& address);

// The address on which it listens, as ADDRESS:PORT.
std::string address_of(const boost::asio::ip::tcp::acceptor& acceptor);

// Calls `accept` after a short pause, on the acceptor's context. If accepting has failed, for
// example because the process has no file descriptors left, the caller waits in the queue: trying
// again at once would fail again and occupy the processor.
template <typename Acceptor, typename Accept>
void accept_after_pause(Acceptor& acceptor, Accept accept) {
  constexpr std::chrono::milliseconds pause{10};
  const auto timer = std::make_shared<boost::asio::steady_timer>(acceptor.get_executor(), pause);
  timer->async_wait([timer, accept = std::move(accept)](const boost::system::error_code& error) {
    if (!error) accept();
  });
}

}  // namespace falafel::server_program
