#include "fabric/sim/network/shared_receive_queue.h"

#include <algorithm>

#include "fabric/posting_rules.h"
#include "fabric/sim/memory/protection_domain.h"
#include "fabric/sim/network/device_state.h"
#include "fabric/sim/run/host_state.h"
#include "fabric/sim/run/world.h"

namespace falafel::sim {

namespace {
// The numbers below are those of queue pairs.
constexpr std::uint32_t first_shared_number = std::uint32_t{1} << 31U;
}  // namespace

SharedReceiveQueueState::SharedReceiveQueueState(World& world, const DeviceState& device,
                                                 std::uint32_t index,
                                                 const fabric::SharedReceiveQueueOptions& options)
    : world_(world),
      device_(device),
      protection_domain_(static_cast<ProtectionDomain*>(options.protection_domain)->number()),
      options_{.max_receive_requests = options.max_receive_requests,
               .max_receive_segments = options.max_receive_segments},
      receives_(first_shared_number + index) {}

fabric::Result<void> SharedReceiveQueueState::post_receive(
    std::span<const fabric::ReceiveRequest> chain) {
  const auto examine = [this](std::size_t /*index*/, const fabric::MemoryAddress& local,
                              std::uint64_t length_bytes, bool is_written) {
    const Region* region = world_.regions.find_local(local.key, protection_domain_);
    return fabric::examine_local_buffer(region, local, length_bytes, is_written);
  };
  const fabric::QueueOccupancy queue{.places_taken = receives_.taken_places()};
  auto checked = fabric::check_receive_chain(chain, queue, options_, examine);
  if (!checked) return checked;
  enqueue(chain);
  return {};
}

fabric::Result<void> SharedReceiveQueueState::post_faulty_receive(
    const fabric::ReceiveRequest& receive) {
  const fabric::QueueOccupancy queue{.places_taken = receives_.taken_places()};
  auto fits = fabric::check_receive_places(queue, 1, options_);
  if (!fits) return fits;
  world_.regions.expect_faulty_buffers();
  enqueue({&receive, 1});
  return {};
}

void SharedReceiveQueueState::enqueue(std::span<const fabric::ReceiveRequest> chain) {
  device_.host().drain_stores();
  const bool were_none = receives_.empty();
  receives_.touch_next(world_, chain.size());
  receives_.make_room(chain.size());
  for (const fabric::ReceiveRequest& request : chain) receives_.append(request);
  if (!were_none) return;
  for (const Attached& attached : attached_) attached.queue_pair->first_receive_was_posted();
}

std::uint32_t SharedReceiveQueueState::entries_needed(
    const CompletionQueueState& completions) const {
  const bool are_reserved =
      std::ranges::find(attached_, &completions, &Attached::completions) != attached_.end();
  return are_reserved ? 0 : options_.max_receive_requests;
}

std::uint32_t SharedReceiveQueueState::attach(SharingQueuePair& queue_pair,
                                              const CompletionQueueState& completions) {
  const std::uint32_t entries = entries_needed(completions);
  attached_.push_back({.queue_pair = &queue_pair, .completions = &completions});
  return entries;
}

std::uint32_t SharedReceiveQueueState::detach(const SharingQueuePair& queue_pair,
                                              const CompletionQueueState& completions) {
  std::erase_if(attached_,
                [&](const Attached& attached) { return attached.queue_pair == &queue_pair; });
  return entries_needed(completions);
}

SharedReceiveQueue::~SharedReceiveQueue() {
  state_.drop_all();
  device_.forget_shared_receive_queue();
}

}  // namespace falafel::sim
