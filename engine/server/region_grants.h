// Requests for regions, and what the server answers: a grant, a denial, or nothing yet (Behringer 3.3).
//
// They have a fiber of their own, so a request does not wait for a collection (3.6.1: garbage collection
// runs in parallel to answering requests). Granting while the collector is at work is safe because the
// book counts a region that is being collected as outstanding until nothing of it is left to be copied:
// the room in the mature space that the collector still needs is never promised to a grant.
//
// Requests are served in the order in which they came. The first one waits as long as there is hope: memory
// that is being collected, that waits for clients, or that clients hold. Those are asked to give it back, for
// regions with much room left in them count as full. Only when all of it has come back, and what lives
// has been measured, is the request denied. So a request never starves while memory is free, and a client
// that sits on regions costs the others its heartbeat time-out at most: then it is given up.
//
// Clients that take regions from each other all get on: a client gives nothing back before each of its
// fibers that wait for memory has had some, so every grant serves one SET at least.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>

#include "engine/layout/control_message.h"
#include "engine/server/membership.h"
#include "engine/server/memory_book.h"
#include "engine/server/server.h"
#include "engine/server/work_signal.h"
#include "fabric/fabric.h"

namespace falafel::engine {

struct RegionRequest {
  std::uint32_t client = 0;
  RegionNeed need = RegionNeed::waiting;
  // Regions granted up to this incarnation were asked back for it.
  std::optional<std::uint64_t> asked_back_up_to{};
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
  RegionGrants(fabric::Host& host, const ServerOptions& options, MemoryBook& book,
               Membership& membership, ServerStatistics& statistics,
               MatureSpaceControl mature_space);

  void add(const RegionRequest& request);
  void remove_client(std::uint32_t client);
  void on_released(std::uint32_t client);
  // Memory was collected or given free.
  void on_change() { work_.raise(); }
  void on_flipped();

  // The fiber.
  void run();

  std::uint64_t waiting_count() const { return requests_.size(); }
  // No request waits, and none is about to be looked at.
  bool is_idle() const { return requests_.empty() && !work_.is_raised() && !flip_asked_; }

 private:
  enum class Decision : std::uint8_t { grant, deny, wait, flip, ask_for_regions };
  // What lived in the active mature space, and what was in use, when that was last looked at. What is in use
  // and does not live never lives again, so there is at least as much garbage now.
  struct Measurement {
    std::uint64_t garbage_bytes = 0;
    std::uint64_t used_bytes = 0;
    std::uint64_t due_ns = 0;  // when the next one may be
  };

  void serve();
  Decision decide(const RegionRequest& request);
  bool is_collecting() const;
  Decision decide_by_measurement(const RegionRequest& request);
  void measure();
  bool ask_for_regions(RegionRequest& request);
  void grant(const RegionRequest& request);
  void deny(const RegionRequest& request);

  fabric::Host& host_;
  const ServerOptions& options_;
  MemoryBook& book_;
  Membership& membership_;
  ServerStatistics& statistics_;
  MatureSpaceControl mature_space_;
  WorkSignal work_;
  std::uint64_t look_again_ns_ = fabric::never_ns;
  std::deque<RegionRequest> requests_;
  std::map<std::uint32_t, std::uint64_t> asked_back_;  // by client: up to which incarnation
  std::optional<Measurement> measurement_;
  bool flip_asked_ = false;
};

}  // namespace falafel::engine
