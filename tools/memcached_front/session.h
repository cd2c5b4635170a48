// One connection of a memcached client. It answers all requests that have arrived before it reads
// more, and it stops reading while the client does not take its answers.
#pragma once

#include <array>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <string>

#include "tools/memcached_front/request_parser.h"
#include "tools/memcached_front/responder.h"

namespace falafel::memcached_front {

class Session : public std::enable_shared_from_this<Session> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;

  // Counts as a connection until it is destroyed. Only the thread of the socket's context may use
  // it.
  Session(Socket socket, const ParserOptions& options, Storage& storage, Statistics& statistics);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void start() { read(); }

 private:
  void read();
  void answer();
  void write(bool is_last);
  void discard_rest();
  void discard();

  Socket socket_;
  boost::asio::steady_timer deadline_;
  RequestParser parser_;
  Responder responder_;
  Statistics& statistics_;
  std::array<char, 65'536> received_{};
  std::string answers_;
};

}  // namespace falafel::memcached_front
