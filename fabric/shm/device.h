// A device of a host. It makes protection domains, completion queues and connections.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>

#include "fabric/fabric.h"
#include "fabric/shm/link.h"

namespace falafel::shm {

class Host;
class QueuePair;

class Device final : public fabric::Device {
 public:
  explicit Device(Host& host) : host_(host) {}

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

  // A queue pair that has no link yet, and the endpoint for its link.
  struct Prepared {
    std::unique_ptr<QueuePair> queue_pair;
    std::unique_ptr<OwnEndpoint> endpoint;
  };
  // `caller`: the process that requested the connection, if another one did.
  fabric::Result<Prepared> prepare(const fabric::QueuePairOptions& options,
                                   std::optional<pid_t> caller);

 private:
  fabric::Result<void> check_options(const fabric::QueuePairOptions& options) const;

  Host& host_;
};

}  // namespace falafel::shm
