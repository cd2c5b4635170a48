#include "fabric/sim/network/queue_pair_creation.h"

#include "fabric/posting_rules.h"
#include "fabric/sim/memory/protection_domain.h"
#include "fabric/sim/network/device_state.h"
#include "fabric/sim/network/plain_queue_pair.h"
#include "fabric/sim/network/queue_pair.h"
#include "fabric/sim/network/shared_receive_queue.h"
#include "fabric/sim/network/timed_queue_pair.h"
#include "fabric/sim/own_object.h"
#include "fabric/sim/run/host_state.h"
#include "fabric/sim/run/world.h"

namespace falafel::sim {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;
using fabric::Transport;

namespace {

Owned<QueuePairActor> make_queue_pair(World& world, DeviceState& device, std::uint32_t number,
                                      const fabric::QueuePairOptions& options) {
  if (world.costs != nullptr) return make_timed_queue_pair(world, device, number, options);
  if (options.transport == Transport::reliable_connection) {
    return make_plain_queue_pair(world, device, number, options);
  }
  return world.make<QueuePairActor>(world, device, number, options);
}

Result<void> check_entries(const DeviceState& device, const fabric::QueuePairOptions& options) {
  const auto& sends = static_cast<CompletionQueue*>(options.send_completions)->state();
  const auto& receives = static_cast<CompletionQueue*>(options.receive_completions)->state();
  fabric::QueuePairOptions needed = options;
  if (options.shared_receive_queue != nullptr) {
    auto* shared = as_own<SharedReceiveQueue>(options.shared_receive_queue);
    auto* domain = static_cast<ProtectionDomain*>(options.protection_domain);
    if (shared == nullptr || &shared->state().device() != &device ||
        shared->state().protection_domain() != domain->number()) {
      return make_error(ErrorCode::invalid_argument,
                        "shared_receive_queue: of another device or protection domain");
    }
    needed.max_receive_requests = shared->state().entries_needed(receives);
  }
  return fabric::check_free_entries(needed, sends.unreserved(), receives.unreserved());
}

Result<void> check_options(const DeviceState& device, const fabric::QueuePairOptions& options) {
  const auto refuse = [](std::string why) {
    return make_error(ErrorCode::invalid_argument, std::move(why));
  };
  auto* domain = as_own<ProtectionDomain>(options.protection_domain);
  auto* sends = as_own<CompletionQueue>(options.send_completions);
  auto* receives = as_own<CompletionQueue>(options.receive_completions);
  if (domain == nullptr || &domain->host() != &device.host()) {
    return refuse("protection_domain: null, or of another host");
  }
  if (sends == nullptr || receives == nullptr || &sends->state().host() != &device.host() ||
      &receives->state().host() != &device.host()) {
    return refuse("send_completions, receive_completions: null, or of another host");
  }
  if (Result<void> checked = fabric::check_limits(options, device.attributes()); !checked)
    return checked;
  return check_entries(device, options);
}

}  // namespace

Result<QueuePairActor*> create_queue_pair(World& world, DeviceState& device,
                                          const fabric::QueuePairOptions& options) {
  if (Result<void> checked = check_options(device, options); !checked) {
    return tl::unexpected<fabric::Error>(checked.error());
  }
  world.touch(Touchable::numbers, 0, Access::writes);
  const auto number = static_cast<std::uint32_t>(world.queue_pairs.size() + 1);
  world.queue_pairs.push_back(make_queue_pair(world, device, number, options));
  world.trace.introduce(
      {.kind = SubjectKind::queue_pair, .number = number, .host = device.host().name()});
  return world.queue_pairs.back().get();
}

}  // namespace falafel::sim
