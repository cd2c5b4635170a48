// The state of a device that its queue pairs and queues share: its limits, the words that its
// atomics hold, and its card.
#pragma once

#include <cstdint>

#include "fabric/fabric.h"
#include "fabric/sim/words/held_words.h"

namespace falafel::sim::timing {
struct Card;
}

namespace falafel::sim {

class HostState;
struct World;

class DeviceState {
 public:
  DeviceState(World& world, HostState& host);
  DeviceState(const DeviceState&) = delete;
  DeviceState& operator=(const DeviceState&) = delete;

  HostState& host() const { return host_; }
  const fabric::DeviceAttributes& attributes() const { return attributes_; }
  HeldWords& held_words() { return held_words_; }
  // The card of the machine, in a timed run; null otherwise.
  timing::Card* card() const { return card_; }

  // The number of shared receive queues that exist.
  std::uint32_t shared_receive_queues() const { return shared_receive_queues_; }
  void add_shared_receive_queue() { ++shared_receive_queues_; }
  void forget_shared_receive_queue() { --shared_receive_queues_; }

 private:
  HostState& host_;
  fabric::DeviceAttributes attributes_;
  HeldWords held_words_;
  timing::Card* card_ = nullptr;
  std::uint32_t shared_receive_queues_ = 0;
};

}  // namespace falafel::sim
