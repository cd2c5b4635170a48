// A device of libibverbs, one port of it: its limits, and what is made on it.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstdint>
#include <memory>

#include "fabric/fabric.h"
#include "fabric/realtime/system_random.h"
#include "fabric/verbs/handshake.h"
#include "fabric/verbs/port_selection.h"
#include "fabric/verbs/queue_pair.h"

namespace falafel::fabric {

class VerbsNetwork;

class VerbsDevice final : public Device {
 public:
  static Result<std::unique_ptr<VerbsDevice>> open(FiberScheduler& scheduler, VerbsNetwork& network,
                                                   const std::string& host_name, OpenedPort port);

  const DeviceAttributes& attributes() const override { return attributes_; }
  std::unique_ptr<ProtectionDomain> create_protection_domain() override;
  Result<std::unique_ptr<CompletionQueue>> create_completion_queue(std::uint32_t capacity) override;
  Result<std::unique_ptr<Listener>> listen(std::uint16_t service) override;
  Result<Connection> connect(const Address& address, const QueuePairOptions& options,
                             PrivateData private_data, std::uint64_t deadline_ns) override;
  Result<std::unique_ptr<QueuePair>> create_datagram_queue_pair(
      const QueuePairOptions& options) override;
  Result<DatagramAddress> resolve(const std::string& host,
                                  std::uint32_t queue_pair_number) override;

  // For connections.
  Result<std::unique_ptr<VerbsQueuePair>> create_queue_pair(const QueuePairOptions& options);
  // This end of a connection, as the other side needs to know it.
  HandshakeBody describe(const VerbsQueuePair& queue_pair, const QueuePairOptions& options);
  FiberScheduler& scheduler() { return scheduler_; }
  VerbsNetwork& network() { return network_; }

 private:
  VerbsDevice(FiberScheduler& scheduler, VerbsNetwork& network, std::string host_name,
              OpenedPort port, ChannelHandle channel);
  Result<void> query_attributes();
  std::uint32_t find_inline_limit();
  Result<void> check_options(const QueuePairOptions& options) const;
  Result<void> check_queues(const QueuePairOptions& options) const;
  void await_interrupts();

  FiberScheduler& scheduler_;
  VerbsNetwork& network_;
  std::string host_name_;
  ContextHandle context_;
  PortIdentity port_;
  ChannelHandle channel_;
  boost::asio::posix::stream_descriptor interrupts_;
  SystemRandom random_;
  DeviceAttributes attributes_;
  std::shared_ptr<AddressBook> addresses_ = std::make_shared<AddressBook>();
  std::uint32_t max_reads_as_responder_ = 0;
};

}  // namespace falafel::fabric
