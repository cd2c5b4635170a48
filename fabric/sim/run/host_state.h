// The state of a host that its fibers, memory, devices and queue pairs share: its name and options,
// its life and its clock, how its fibers take turns, and the stores of its processor. They know
// this state. Only host.h, which creates and ends them, knows what belongs to a host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/sim/host_options.h"
#include "fabric/sim/run/host_clock.h"
#include "fabric/sim/run/host_life.h"
#include "fabric/sim/run/services.h"
#include "fabric/sim/run/store_buffer.h"
#include "fabric/sim/run/turns.h"
#include "fabric/sim/run/world.h"
#include "fabric/sim/words/held_words.h"

namespace falafel::sim {

class HostState {
 public:
  HostState(World& world, std::uint32_t index, const HostOptions& options);
  HostState(const HostState&) = delete;
  HostState& operator=(const HostState&) = delete;

  const std::string& name() const { return options_.name; }
  const std::string& machine_name() const {
    return options_.machine.empty() ? options_.name : options_.machine;
  }
  const HostOptions& options() const { return options_; }
  std::uint32_t index() const { return index_; }

  const HostLife& life() const { return life_; }
  bool alive() const { return life_.is_alive; }
  std::uint32_t incarnation() const { return life_.incarnation; }
  void begin_life() {
    life_.is_alive = true;
    ++life_.incarnation;
  }
  void end_life() { life_.is_alive = false; }

  HostClock& clock() { return clock_; }
  const HostClock& clock() const { return clock_; }
  timing::Thread& thread() { return thread_; }  // in a timed run
  const timing::Thread& thread() const { return thread_; }
  Turns* turns() const { return turns_.get(); }  // null: fibers run in any order
  Services& services() { return services_; }

  StoreBuffer* store_buffer() const { return store_buffer_.get(); }  // null: stores are immediate
  // All stores reach memory, as with a locked instruction or a system call.
  void drain_stores() const;
  // The words that the atomics of a device hold. The device exists as long as the host.
  void add_held_words(const HeldWords& words) { held_words_.push_back(&words); }
  // Counts a store that an atomic will overwrite between its read and its write.
  void note_processor_store(const std::byte* begin, std::uint64_t length_bytes) const;

  // The requests that the host has sent count as landing.
  bool holds_landing() const { return holds_landing_; }
  void set_holds_landing(bool holds) { holds_landing_ = holds; }

 private:
  World& world_;
  std::uint32_t index_;
  HostOptions options_;
  HostLife life_;
  HostClock clock_;
  timing::Thread thread_;
  Owned<Turns> turns_;
  Services services_;
  Owned<StoreBuffer> store_buffer_;
  std::pmr::vector<const HeldWords*> held_words_;
  bool holds_landing_ = false;
};

// Null if there is no host of that name.
HostState* find_host(const World& world, std::string_view name);

}  // namespace falafel::sim
