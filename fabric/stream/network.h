// How a host with message streams makes progress: Asio's reactor serves its sockets, and sleeps
// until one of them is ready.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>

#include "fabric/realtime/fiber_scheduler.h"

namespace falafel::stream {

class Network final : public fabric::Network {
 public:
  void progress() override;
  std::uint64_t next_deadline_ns() const override { return fabric::never_ns; }
  void idle_until(std::uint64_t deadline_ns) override;

  boost::asio::io_context& reactor() { return reactor_; }

 private:
  boost::asio::io_context reactor_{1};
};

}  // namespace falafel::stream
