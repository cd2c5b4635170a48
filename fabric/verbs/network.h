// The progress of a host with RDMA devices: it polls completion queues, and Asio's reactor makes
// connections. The same reactor sleeps until a device interrupts or a socket is ready.
#pragma once

#include <infiniband/verbs.h>

#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "fabric/realtime/descriptor_shortage.h"
#include "fabric/realtime/fiber_scheduler.h"

namespace falafel::verbs {

class CompletionQueueState;

class Network final : public fabric::Network {
 public:
  explicit Network(std::function<void(std::string_view)> report_failure)
      : report_failure_(std::move(report_failure)),
        descriptor_shortage_(std::make_shared<fabric::DescriptorShortage>(report_failure_)) {}

  void progress() override;
  std::uint64_t next_deadline_ns() const override { return fabric::never_ns; }
  void idle_until(std::uint64_t deadline_ns) override;

  boost::asio::io_context& reactor() { return reactor_; }
  void add(CompletionQueueState& queue) { queues_.push_back(&queue); }
  void remove(CompletionQueueState& queue) {
    const std::size_t removed = std::erase(queues_, &queue);
    FALAFEL_ASSERT(removed == 1, "the network had a completion queue {} times", removed);
  }
  // Tells the queue pairs of this port.
  void on_port_error(const ibv_context& device, int port) const;
  void report_failure(std::string_view what) const {
    if (report_failure_) report_failure_(what);
  }
  const std::shared_ptr<fabric::DescriptorShortage>& descriptor_shortage() const {
    return descriptor_shortage_;
  }

 private:
  // The reactor costs a system call, so it runs once in this many rounds, and after every sleep.
  static constexpr std::uint32_t rounds_per_reactor_turn = 64;

  bool poll_awaited();

  boost::asio::io_context reactor_{1};
  std::vector<CompletionQueueState*> queues_;
  std::function<void(std::string_view)> report_failure_;
  std::shared_ptr<fabric::DescriptorShortage> descriptor_shortage_;
  std::uint32_t rounds_ = 0;
};

}  // namespace falafel::verbs
