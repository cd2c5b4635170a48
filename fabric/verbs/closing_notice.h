// Tells one side of a connection that the other has closed its end. libibverbs reports nothing of
// the kind, so the two sides keep the socket over which they connected, if one of them wants to
// hear it (QueuePairOptions::hears_close). A side that closes says goodbye there; a socket that
// ends without a goodbye means that the peer has crashed, and that is silent.
#pragma once

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "fabric/realtime/fiber_scheduler.h"

namespace falafel::verbs {

class ClosingNotice : public std::enable_shared_from_this<ClosingNotice> {
 public:
  ClosingNotice(fabric::FiberScheduler& scheduler, boost::asio::ip::tcp::socket socket)
      : scheduler_(scheduler), socket_(std::move(socket)) {}

  void listen();
  // This side closes. All that was written to the socket before must have left.
  void say_goodbye();
  // As fabric::QueuePair::wait_until_peer_closed.
  bool wait(std::uint64_t deadline_ns);

 private:
  fabric::FiberScheduler& scheduler_;
  boost::asio::ip::tcp::socket socket_;
  std::array<std::byte, 1> heard_{};
  bool peer_has_closed_ = false;
  bool is_closed_ = false;
  fabric::WaitList waiters_;
};

}  // namespace falafel::verbs
