#include "fabric/sim/host/device.h"

#include "fabric/posting_rules.h"
#include "fabric/sim/memory/protection_domain.h"
#include "fabric/sim/network/handshake.h"
#include "fabric/sim/network/queue_pair.h"
#include "fabric/sim/network/queue_pair_creation.h"
#include "fabric/sim/network/shared_receive_queue.h"
#include "fabric/sim/own_object.h"
#include "fabric/sim/run/host_state.h"
#include "fabric/sim/run/world.h"

namespace falafel::sim {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;
using fabric::Transport;

std::unique_ptr<fabric::ProtectionDomain> Device::create_protection_domain() {
  return std::make_unique<ProtectionDomain>(world_, state_.host(), world_.next_protection_domain++);
}

Result<std::unique_ptr<fabric::CompletionQueue>> Device::create_completion_queue(
    std::uint32_t capacity) {
  if (Result<void> checked = fabric::check_completion_capacity(capacity, attributes()); !checked) {
    return tl::unexpected<fabric::Error>(checked.error());
  }
  world_.completion_queues.push_back(
      world_.make<CompletionQueueState>(world_, state_.host(), capacity));
  return std::make_unique<CompletionQueue>(*world_.completion_queues.back());
}

Result<std::unique_ptr<fabric::SharedReceiveQueue>> Device::create_shared_receive_queue(
    const fabric::SharedReceiveQueueOptions& options) {
  if (auto checked = fabric::check_shared_receive_queue(options, attributes()); !checked) {
    return tl::unexpected<fabric::Error>(checked.error());
  }
  auto* domain = as_own<ProtectionDomain>(options.protection_domain);
  if (domain == nullptr || &domain->host() != &state_.host()) {
    return make_error(ErrorCode::invalid_argument, "protection_domain: null, or of another host");
  }
  if (state_.shared_receive_queues() == attributes().max_shared_receive_queues) {
    return make_error(ErrorCode::out_of_memory,
                      fmt::format("the device has {} shared receive queues already "
                                  "(max_shared_receive_queues)",
                                  state_.shared_receive_queues()));
  }
  state_.add_shared_receive_queue();
  const auto index = static_cast<std::uint32_t>(world_.shared_receive_queues.size());
  world_.shared_receive_queues.push_back(
      world_.make<SharedReceiveQueueState>(world_, state_, index, options));
  return std::make_unique<SharedReceiveQueue>(*world_.shared_receive_queues.back(), state_);
}

Result<std::unique_ptr<fabric::QueuePair>> Device::create_datagram_queue_pair(
    const fabric::QueuePairOptions& options) {
  if (options.transport != Transport::unreliable_datagram) {
    return make_error(ErrorCode::invalid_argument,
                      "transport: datagram queue pairs are UD; connect() makes RC and UC");
  }
  Result<QueuePairActor*> actor = create_queue_pair(world_, state_, options);
  if (!actor) return tl::unexpected<fabric::Error>(actor.error());
  (*actor)->become_ready();
  return std::make_unique<QueuePair>(**actor);
}

Result<fabric::DatagramAddress> Device::resolve(const std::string& host,
                                                std::uint32_t queue_pair_number) {
  const HostState* found = find_host(world_, host);
  if (found == nullptr) {
    return make_error(ErrorCode::unreachable, fmt::format("host: there is no '{}'", host));
  }
  return fabric::DatagramAddress{found->index(), queue_pair_number};
}

Result<std::unique_ptr<fabric::Listener>> Device::listen(std::uint16_t service) {
  if (state_.host().services().find(service) != nullptr) {
    return make_error(
        ErrorCode::address_in_use,
        fmt::format("service {} of {} has a listener already", service, state_.host().name()));
  }
  return std::make_unique<Listener>(world_, state_, service);
}

Result<fabric::Connection> Device::connect(const fabric::Address& address,
                                           const fabric::QueuePairOptions& options,
                                           fabric::PrivateData private_data,
                                           std::uint64_t deadline_ns) {
  if (options.transport == Transport::unreliable_datagram) {
    return make_error(ErrorCode::unsupported,
                      "transport: UD is not connected; use create_datagram_queue_pair");
  }
  if (Result<void> checked = fabric::check_private_data(private_data); !checked) {
    return tl::unexpected<fabric::Error>(checked.error());
  }
  HostState* server = find_host(world_, address.host);
  if (server == nullptr) {
    return make_error(ErrorCode::unreachable, fmt::format("address: no host '{}'", address.host));
  }
  Result<QueuePairActor*> actor = create_queue_pair(world_, state_, options);
  if (!actor) return tl::unexpected<fabric::Error>(actor.error());
  state_.host().drain_stores();
  auto queue_pair = std::make_unique<QueuePair>(**actor);
  world_.handshakes.push_back(world_.make<Handshake>(
      world_, state_.host(), *server, address.service, **actor, std::move(private_data)));
  Handshake& handshake = *world_.handshakes.back();
  if (Result<void> connected = handshake.wait(deadline_ns); !connected) {
    return tl::unexpected<fabric::Error>(connected.error());
  }
  return fabric::Connection{std::move(queue_pair), handshake.reply()};
}

}  // namespace falafel::sim
