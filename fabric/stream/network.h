// The progress of a host with message streams: Asio's reactor serves its sockets, and sleeps until
// one of them is ready.
#pragma once

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>

#include "fabric/realtime/descriptor_shortage.h"
#include "fabric/realtime/fiber_scheduler.h"

namespace falafel::stream {

class Network final : public fabric::Network {
 public:
  void progress() override;
  std::uint64_t next_deadline_ns() const override { return fabric::never_ns; }
  void idle_until(std::uint64_t deadline_ns) override;

  boost::asio::io_context& reactor() { return reactor_; }
  const std::shared_ptr<fabric::DescriptorShortage>& descriptor_shortage() const {
    return descriptor_shortage_;
  }

 private:
  std::shared_ptr<fabric::DescriptorShortage> descriptor_shortage_ =
      std::make_shared<fabric::DescriptorShortage>(nullptr);
  boost::asio::io_context reactor_{1};
};

}  // namespace falafel::stream
