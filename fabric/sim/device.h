// A simulated RDMA device: its limits, the words that its atomics hold, and the factories of its
// objects.
#pragma once

#include <cstdint>
#include <string>

#include "fabric/fabric.h"
#include "fabric/sim/held_words.h"

namespace falafel::sim::timing {
struct Card;
}

namespace falafel::sim {

class HostState;
class QueuePairActor;
struct World;

class Device final : public fabric::Device {
 public:
  Device(World& world, HostState& host);

  const fabric::DeviceAttributes& attributes() const override { return attributes_; }
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

  HostState& host() const { return host_; }
  fabric::Result<QueuePairActor*> create_queue_pair(const fabric::QueuePairOptions& options);

  // The card of the machine, in a timed run; null otherwise.
  timing::Card* card() const { return card_; }

  // One of them was destroyed.
  void forget_shared_receive_queue() { --shared_receive_queues_; }

  HeldWords& held_words() { return held_words_; }

 private:
  fabric::Result<void> check_options(const fabric::QueuePairOptions& options) const;
  fabric::Result<void> check_entries(const fabric::QueuePairOptions& options) const;

  timing::Card* card_ = nullptr;
  World& world_;
  HostState& host_;
  fabric::DeviceAttributes attributes_;
  HeldWords held_words_;
  std::uint32_t shared_receive_queues_ = 0;
};

}  // namespace falafel::sim
