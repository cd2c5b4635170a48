// A simulated RDMA device, which makes the objects of the program.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fabric/fabric.h"
#include "fabric/sim/network/device_state.h"

namespace falafel::sim {

class HostState;
struct World;

class Device final : public fabric::Device {
 public:
  Device(World& world, HostState& host) : world_(world), state_(world, host) {}

  const fabric::DeviceAttributes& attributes() const override { return state_.attributes(); }
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

  World& world() const { return world_; }
  DeviceState& state() { return state_; }

 private:
  World& world_;
  DeviceState state_;
};

}  // namespace falafel::sim
