#include "fabric/sim/run/host_state.h"

namespace falafel::sim {

HostState::HostState(World& world, std::uint32_t index, const HostOptions& options)
    : world_(world),
      index_(index),
      options_(options),
      clock_(world),
      services_(world, index),
      held_words_(&world.arena) {
  const bool is_timed = world.costs != nullptr;
  if (is_timed) thread_ = world.costs->add_thread(machine_name());
  if (world.options.fibers_take_turns && !is_timed) turns_ = world.make<Turns>(world, index);
  if (world.options.store_buffers) {
    store_buffer_ = world.make<StoreBuffer>(world, index, options_.name);
  }
  world.host_states.push_back(this);
}

void HostState::drain_stores() const {
  if (store_buffer_ != nullptr && !store_buffer_->empty()) store_buffer_->drain();
}

void HostState::note_processor_store(const std::byte* begin, std::uint64_t length_bytes) const {
  for (const HeldWords* words : held_words_) {
    if (words->holds_any_of(begin, length_bytes)) {
      world_.count(SimulatorProbe::processor_store_lost);
    }
  }
}

HostState* find_host(const World& world, std::string_view name) {
  for (HostState* host : world.host_states) {
    if (host->name() == name) return host;
  }
  return nullptr;
}

}  // namespace falafel::sim
