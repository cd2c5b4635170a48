// The only kind of device: the network of the kernel.
#pragma once

#include <cstdint>
#include <memory>

#include "fabric/fabric.h"
#include "fabric/realtime/fiber_scheduler.h"
#include "fabric/stream/network.h"
#include "fabric/stream/options.h"
#include "fabric/stream/queue_pair.h"

namespace falafel::stream {

// The parts that the devices of a host share.
struct Site {
  HostOptions options;
  fabric::FiberScheduler& scheduler;
  Network& network;
  std::uint32_t next_key = 1;
  std::uint32_t next_queue_pair = 1;
};

class Device final : public fabric::Device {
 public:
  explicit Device(Site& site) : site_(site) {}

  const fabric::DeviceAttributes& attributes() const override;
  std::unique_ptr<fabric::ProtectionDomain> create_protection_domain() override;
  fabric::Result<std::unique_ptr<fabric::CompletionQueue>> create_completion_queue(
      std::uint32_t capacity) override;
  fabric::Result<std::unique_ptr<fabric::SharedReceiveQueue>> create_shared_receive_queue(
      const fabric::SharedReceiveQueueOptions& options) override;
  fabric::Result<std::unique_ptr<fabric::Listener>> listen(std::uint16_t service) override;
  fabric::Result<fabric::Connection> connect(const fabric::Address& address,
                                             const fabric::QueuePairOptions& options,
                                             fabric::PrivateData private_data,
                                             std::uint64_t deadline_ns) override;
  fabric::Result<std::unique_ptr<fabric::QueuePair>> create_datagram_queue_pair(
      const fabric::QueuePairOptions& options) override;
  fabric::Result<fabric::DatagramAddress> resolve(const std::string& host,
                                                  std::uint32_t queue_pair_number) override;

  Site& site() const { return site_; }
  // Attach a socket to it.
  fabric::Result<std::unique_ptr<QueuePair>> create_queue_pair(
      const fabric::QueuePairOptions& options);

 private:
  fabric::Result<void> check_options(const fabric::QueuePairOptions& options) const;

  Site& site_;
};

}  // namespace falafel::stream
