#include "fabric/sim/network/device_state.h"

#include "fabric/sim/run/host_state.h"
#include "fabric/sim/run/world.h"

namespace falafel::sim {

DeviceState::DeviceState(World& world, HostState& host) : host_(host) {
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

}  // namespace falafel::sim
