// Requests for regions, and what the server answers: a grant, a denial, or nothing yet (Behringer 3.3).
//
// They have a fiber of their own, so a request does not wait for a collection (3.6.1: garbage collection
// runs in parallel to answering requests). Granting while the collector is at work is safe because the
// book counts a region that is being collected as outstanding until nothing of it is left to be copied:
// the room in the mature space that the collector still needs is never promised to a grant.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>

#include "engine/server/membership.h"
#include "engine/server/memory_book.h"
#include "engine/server/server.h"
#include "engine/server/work_signal.h"
#include "fabric/fabric.h"

namespace falafel::engine {

struct RegionRequest {
  std::uint32_t client = 0;
  bool eager = false;  // the client has room left, and can wait
};

// What grants need of the collector.
struct MatureSpaceControl {
  // What would be in use after the active mature space was collected. May wait.
  std::function<std::uint64_t()> live_bytes;
  // Asks for that collection; on_flipped() says that it is over.
  std::function<void()> ask_for_flip;
};

class RegionGrants {
 public:
  RegionGrants(fabric::Host& host, MemoryBook& book, Membership& membership,
               ServerStatistics& statistics, MatureSpaceControl mature_space);

  void add(const RegionRequest& request);
  void remove_client(std::uint32_t client);
  // Memory was released or given free, or a client is gone.
  void on_change() { work_.raise(); }
  void on_flipped();

  // The fiber.
  void run();

  std::uint64_t waiting_count() const { return requests_.size(); }
  // No request waits, and none is about to be looked at.
  bool is_idle() const { return requests_.empty() && !work_.is_raised() && !flip_asked_; }

 private:
  enum class Decision : std::uint8_t { grant, deny, wait, flip };

  void serve();
  Decision decide(const RegionRequest& request) const;
  void grant(const RegionRequest& request);
  void deny(const RegionRequest& request);

  fabric::Host& host_;
  MemoryBook& book_;
  Membership& membership_;
  ServerStatistics& statistics_;
  MatureSpaceControl mature_space_;
  WorkSignal work_;
  std::deque<RegionRequest> requests_;
  bool flip_asked_ = false;
};

}  // namespace falafel::engine
