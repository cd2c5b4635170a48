// Answers the requests of many connections at once: each session that has requests runs on a fiber
// of the store's host, so one that waits for the store holds up no other. The fiber that calls
// run() serves the sockets meanwhile.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "fabric/fabric.h"
#include "tools/server/memcached_front/session.h"

namespace falafel::memcached_front {

// Only the thread that runs the context may use it.
class SessionFibers {
 public:
  // Runs at most `most` sessions at once; further ones wait.
  SessionFibers(boost::asio::io_context& context, std::uint32_t most)
      : context_(context), most_(most) {}

  // The session has requests.
  void add(std::shared_ptr<Session> session) { ready_.push_back(std::move(session)); }
  bool is_empty() const { return ready_.empty(); }

  // Runs on a fiber of the host. Answers requests until there are none, or until `goes_on` returns
  // false and what has begun has ended.
  void run(fabric::Host& host, const std::function<bool()>& goes_on);
  // Answers requests without fibers, because the store is not connected.
  void run_disconnected();

 private:
  class Round;

  std::shared_ptr<Session> take();

  boost::asio::io_context& context_;
  const std::uint32_t most_;
  std::deque<std::shared_ptr<Session>> ready_;
};

}  // namespace falafel::memcached_front
