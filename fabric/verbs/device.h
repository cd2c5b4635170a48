// A device is one port of an RDMA device: its limits, and the making of everything that belongs to
// it.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <memory>

#include "fabric/fabric.h"
#include "fabric/realtime/system_random.h"
#include "fabric/verbs/device_events.h"
#include "fabric/verbs/handshake.h"
#include "fabric/verbs/port_selection.h"
#include "fabric/verbs/queue_pair.h"

namespace falafel::verbs {

class Network;

class Device final : public fabric::Device {
 public:
  static fabric::Result<std::unique_ptr<Device>> open(fabric::FiberScheduler& scheduler,
                                                      Network& network,
                                                      const std::string& host_name,
                                                      OpenedPort port);

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

  // For connections.
  fabric::Result<std::unique_ptr<QueuePair>> create_queue_pair(
      const fabric::QueuePairOptions& options);
  // Describes this end of a connection for the peer.
  HandshakeBody describe(const QueuePair& queue_pair, const fabric::QueuePairOptions& options);
  // The reason why reserved memory would be pinned as a whole, which names the device. Empty: the
  // device pages what peers READ.
  std::string obstacle_to_paging() const;
  fabric::FiberScheduler& scheduler() { return scheduler_; }
  Network& network() { return network_; }

 private:
  Device(fabric::FiberScheduler& scheduler, Network& network, std::string host_name,
         OpenedPort port, ChannelHandle channel);
  fabric::Result<void> query_attributes();
  std::uint32_t find_inline_limit();
  fabric::Result<void> check_options(const fabric::QueuePairOptions& options) const;
  fabric::Result<void> check_queues(const fabric::QueuePairOptions& options) const;
  void await_interrupts();

  fabric::FiberScheduler& scheduler_;
  Network& network_;
  std::string host_name_;
  OpenedPort port_;  // with the identity that it had when the last queue pair was created
  ChannelHandle channel_;
  boost::asio::posix::stream_descriptor interrupts_;
  DeviceEvents events_;
  fabric::SystemRandom random_;
  fabric::DeviceAttributes attributes_;
  std::shared_ptr<AddressBook> addresses_ = std::make_shared<AddressBook>();
  std::uint32_t max_reads_as_responder_ = 0;
  ibv_odp_caps paging_{};
};

}  // namespace falafel::verbs
