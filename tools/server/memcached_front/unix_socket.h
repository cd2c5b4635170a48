// Listens on a UNIX-domain socket, which only the user of this process may use.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <filesystem>
#include <memory>

#include "fabric/error.h"

namespace falafel::memcached_front {

class UnixSocket {
 public:
  using Protocol = boost::asio::local::stream_protocol;

  // Replaces a socket that a killed process left behind. Errors: address_in_use (a process listens
  // there, or the path is not a socket), access_denied, invalid_argument (the path is too long or
  // its directory does not exist).
  static fabric::Result<std::unique_ptr<UnixSocket>> listen(boost::asio::io_context& context,
                                                            const std::filesystem::path& path);
  // Removes the socket.
  ~UnixSocket();
  UnixSocket(const UnixSocket&) = delete;
  UnixSocket& operator=(const UnixSocket&) = delete;

  Protocol::acceptor& acceptor() { return acceptor_; }

 private:
  UnixSocket(Protocol::acceptor acceptor, std::filesystem::path path)
      : acceptor_(std::move(acceptor)), path_(std::move(path)) {}

  Protocol::acceptor acceptor_;
  std::filesystem::path path_;
};

}  // namespace falafel::memcached_front
