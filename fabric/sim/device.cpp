#include "fabric/sim/device.h"

#include "fabric/posting_rules.h"
#include "fabric/sim/handshake.h"
#include "fabric/sim/host_state.h"
#include "fabric/sim/memory.h"
#include "fabric/sim/own_object.h"
#include "fabric/sim/plain_queue_pair.h"
#include "fabric/sim/queue_pair.h"
#include "fabric/sim/shared_receive_queue.h"
#include "fabric/sim/timing/timed_queue_pair.h"
#include "fabric/sim/world.h"

namespace falafel::sim {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;
using fabric::Transport;

namespace {

Owned<QueuePairActor> make_queue_pair(World& world, HostState& host, Device& device,
                                      std::uint32_t number,
                                      const fabric::QueuePairOptions& options) {
  if (world.costs != nullptr) return make_timed_queue_pair(world, host, device, number, options);
  if (options.transport == Transport::reliable_connection) {
    return make_plain_queue_pair(world, host, device, number, options);
  }
  return world.make<QueuePairActor>(world, host, device, number, options);
}

}  // namespace

Device::Device(World& world, HostState& host) : world_(world), host_(host) {
  const SimulationOptions& options = world.options;
  if (world.costs != nullptr) card_ = &world.costs->machine(host.machine_name()).card;
  attributes_.atomic_capability = options.atomic_capability;
  attributes_.mtu_bytes = static_cast<std::uint32_t>(options.mtu_bytes);
  attributes_.max_message_bytes = static_cast<std::uint32_t>(options.max_message_bytes);
  attributes_.max_inline_bytes = static_cast<std::uint32_t>(options.max_inline_bytes);
  attributes_.max_queue_requests = host.options().max_queue_requests;
  attributes_.max_completions = host.options().max_completions;
  attributes_.max_scatter_gather_entries = host.options().max_scatter_gather_entries;
  attributes_.max_outstanding_reads_and_atomics =
      static_cast<std::uint32_t>(options.max_outstanding_reads_and_atomics);
  attributes_.max_shared_receive_queues = host.options().max_shared_receive_queues;
  attributes_.has_masked_atomics = host.options().has_masked_atomics;
  attributes_.supports_unreliable_connection = true;
  attributes_.supports_unreliable_datagram = true;
  attributes_.supports_message_stream =
      world.costs == nullptr || world.costs->profile().has_message_streams;
  attributes_.destruction_drains = host.options().destruction_drains;
  // Late words become visible in any order.
  attributes_.places_in_address_order = options.address_order && !options.late_visibility;
  host.add_held_words(held_words_);
}

std::unique_ptr<fabric::ProtectionDomain> Device::create_protection_domain() {
  return std::make_unique<ProtectionDomain>(world_, host_, world_.next_protection_domain++);
}

Result<std::unique_ptr<fabric::CompletionQueue>> Device::create_completion_queue(
    std::uint32_t capacity) {
  if (Result<void> checked = fabric::check_completion_capacity(capacity, attributes_); !checked) {
    return tl::unexpected<fabric::Error>(checked.error());
  }
  world_.completion_queues.push_back(world_.make<CompletionQueueState>(world_, host_, capacity));
  return std::make_unique<CompletionQueue>(*world_.completion_queues.back());
}

Result<void> Device::check_options(const fabric::QueuePairOptions& options) const {
  const auto refuse = [](std::string why) {
    return make_error(ErrorCode::invalid_argument, std::move(why));
  };
  auto* domain = as_own<ProtectionDomain>(options.protection_domain);
  auto* sends = as_own<CompletionQueue>(options.send_completions);
  auto* receives = as_own<CompletionQueue>(options.receive_completions);
  if (domain == nullptr || &domain->host() != &host_) {
    return refuse("protection_domain: null, or of another host");
  }
  if (sends == nullptr || receives == nullptr || &sends->state().host() != &host_ ||
      &receives->state().host() != &host_) {
    return refuse("send_completions, receive_completions: null, or of another host");
  }
  if (Result<void> checked = fabric::check_limits(options, attributes_); !checked) return checked;
  return check_entries(options);
}

Result<void> Device::check_entries(const fabric::QueuePairOptions& options) const {
  const auto& sends = static_cast<CompletionQueue*>(options.send_completions)->state();
  const auto& receives = static_cast<CompletionQueue*>(options.receive_completions)->state();
  fabric::QueuePairOptions needed = options;
  if (options.shared_receive_queue != nullptr) {
    auto* shared = as_own<SharedReceiveQueue>(options.shared_receive_queue);
    auto* domain = static_cast<ProtectionDomain*>(options.protection_domain);
    if (shared == nullptr || &shared->state().device() != this ||
        shared->state().protection_domain() != domain->number()) {
      return make_error(ErrorCode::invalid_argument,
                        "shared_receive_queue: of another device or protection domain");
    }
    needed.max_receive_requests = shared->state().entries_needed(receives);
  }
  return fabric::check_free_entries(needed, sends.unreserved(), receives.unreserved());
}

Result<std::unique_ptr<fabric::SharedReceiveQueue>> Device::create_shared_receive_queue(
    const fabric::SharedReceiveQueueOptions& options) {
  if (auto checked = fabric::check_shared_receive_queue(options, attributes_); !checked) {
    return tl::unexpected<fabric::Error>(checked.error());
  }
  auto* domain = as_own<ProtectionDomain>(options.protection_domain);
  if (domain == nullptr || &domain->host() != &host_) {
    return make_error(ErrorCode::invalid_argument, "protection_domain: null, or of another host");
  }
  if (shared_receive_queues_ == attributes_.max_shared_receive_queues) {
    return make_error(ErrorCode::out_of_memory,
                      fmt::format("the device has {} shared receive queues already "
                                  "(max_shared_receive_queues)",
                                  shared_receive_queues_));
  }
  ++shared_receive_queues_;
  const auto index = static_cast<std::uint32_t>(world_.shared_receive_queues.size());
  world_.shared_receive_queues.push_back(
      world_.make<SharedReceiveQueueState>(world_, *this, index, options));
  return std::make_unique<SharedReceiveQueue>(*world_.shared_receive_queues.back(), *this);
}

Result<QueuePairActor*> Device::create_queue_pair(const fabric::QueuePairOptions& options) {
  if (Result<void> checked = check_options(options); !checked) {
    return tl::unexpected<fabric::Error>(checked.error());
  }
  world_.touch(Touchable::numbers, 0, Access::writes);
  const auto number = static_cast<std::uint32_t>(world_.queue_pairs.size() + 1);
  world_.queue_pairs.push_back(make_queue_pair(world_, host_, *this, number, options));
  world_.trace.introduce({.kind = SubjectKind::queue_pair, .number = number, .host = host_.name()});
  return world_.queue_pairs.back().get();
}

Result<std::unique_ptr<fabric::QueuePair>> Device::create_datagram_queue_pair(
    const fabric::QueuePairOptions& options) {
  if (options.transport != Transport::unreliable_datagram) {
    return make_error(ErrorCode::invalid_argument,
                      "transport: datagram queue pairs are UD; connect() makes RC and UC");
  }
  Result<QueuePairActor*> actor = create_queue_pair(options);
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
  if (host_.services().find(service) != nullptr) {
    return make_error(
        ErrorCode::address_in_use,
        fmt::format("service {} of {} has a listener already", service, host_.name()));
  }
  return std::make_unique<Listener>(world_, host_, *this, service);
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
  Result<QueuePairActor*> actor = create_queue_pair(options);
  if (!actor) return tl::unexpected<fabric::Error>(actor.error());
  host_.drain_stores();
  auto queue_pair = std::make_unique<QueuePair>(**actor);
  world_.handshakes.push_back(world_.make<Handshake>(world_, host_, *server, address.service,
                                                     **actor, std::move(private_data)));
  Handshake& handshake = *world_.handshakes.back();
  if (Result<void> connected = handshake.wait(deadline_ns); !connected) {
    return tl::unexpected<fabric::Error>(connected.error());
  }
  return fabric::Connection{std::move(queue_pair), handshake.reply()};
}

}  // namespace falafel::sim
