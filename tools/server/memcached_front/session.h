// One connection of a memcached client. It answers all requests that have arrived before it reads
// more, and it stops reading while the client does not take its answers.
//
// Its handlers only receive and send. Answering may wait for the store, so a fiber does that
// (session_fibers.h): a session that has requests reports it, and is then told to answer them.
#pragma once

#include <array>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tools/server/memcached_front/request_parser.h"
#include "tools/server/memcached_front/responder.h"

namespace falafel::memcached_front {

class Session : public std::enable_shared_from_this<Session> {
 public:
  using Socket = boost::asio::generic::stream_protocol::socket;
  using OnRequests = std::function<void(std::shared_ptr<Session>)>;

  // After this number of requests, others get their turn: a line may have half a million keys.
  static constexpr std::uint32_t requests_per_turn = 32;

  // Counts as a connection until it is destroyed. Only the thread of the socket's context may use
  // it.
  Session(Socket socket, const ParserOptions& options, OnRequests on_requests, Storage& storage,
          Statistics& statistics);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void start() { read(); }
  // Answers the requests that have arrived. Calls `let_others_run` now and then. A request that
  // finds the store disconnected, and has not done so before, is reported again and repeated, if
  // that is permitted.
  void answer(const std::function<void()>& let_others_run,
              Responder::IfDisconnected if_disconnected);

 private:
  void read();
  void write(bool is_last);
  void discard_rest();
  void discard();

  Socket socket_;
  boost::asio::steady_timer deadline_;
  OnRequests on_requests_;
  RequestParser parser_;
  Responder responder_;
  Statistics& statistics_;
  std::optional<Request> repeated_;
  std::uint32_t requests_ = 0;
  std::array<char, 65'536> received_{};
  std::string answers_;
};

}  // namespace falafel::memcached_front
