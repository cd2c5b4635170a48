// Handles requests for regions. The answer to a request is a grant, a denial, or a delayed answer
// (Behringer 3.3).
//
// Requests have their own fiber, so they do not wait for a collection (3.6.1: garbage collection
// runs in parallel to answering requests). Granting during a collection is safe because a region
// that is being collected counts as outstanding until everything in it is copied. Room in the
// mature space that the collector still needs is therefore never promised to a grant.
//
// Requests are served in order of arrival. The first one waits as long as memory may become
// available: memory that is being collected, that waits for clients, or that clients hold. The
// server asks those clients to return their regions, because even a region with much room left
// counts as full. It denies the request only after all of this memory has returned and the live
// data has been measured. With blocks, the cleaner makes room instead, until no block is worth a
// collection. A request therefore never starves while memory is free. A client that
// does not return its regions delays others by at most its heartbeat time-out, after which the
// server gives up on it.
//
// Clients that compete for regions all make progress: a client returns a region only after each of
// its fibers that wait for memory has received some, so every grant serves at least one SET.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>

#include "engine/layout/control_message.h"
#include "engine/server/block_cleaner.h"
#include "engine/server/membership.h"
#include "engine/server/memory_book.h"
#include "engine/server/server.h"
#include "engine/server/work_signal.h"
#include "fabric/fabric.h"

namespace falafel::engine {

struct RegionRequest {
  std::uint32_t client = 0;
  RegionNeed need = RegionNeed::waiting;
  // The server asked for regions with incarnations up to this one to serve the request.
  std::optional<std::uint64_t> asked_back_up_to{};
  // Blocks: when it first found no room.
  std::optional<std::uint64_t> wanted_ns{};
  // Blocks: no value was left to evict for it when so many bytes had been copied to blocks.
  std::optional<std::uint64_t> nothing_to_evict_at_bytes{};
};

// The operations of the collector of semi-spaces that grants need.
struct MatureSpaceControl {
  // Returns the bytes that would be in use after a collection of the active mature space. May wait.
  std::function<std::uint64_t()> live_bytes;
  // Requests that collection; on_flipped() reports its end.
  std::function<void()> ask_for_flip;
  // Evicts values, so that a collection makes room. Returns false if it cannot make any. May wait.
  // Empty: the server does not evict.
  std::function<bool()> evict;
};

class RegionGrants {
 public:
  RegionGrants(fabric::Host& host, const ServerOptions& options, MemoryBook& book,
               Membership& membership, ServerStatistics& statistics,
               MatureSpaceControl mature_space, BlockCleaner* cleaner);

  void add(const RegionRequest& request);
  void remove_client(std::uint32_t client);
  void on_released(std::uint32_t client);
  // Memory was collected or freed.
  void on_change() { work_.raise(); }
  void on_flipped();

  // The fiber's main loop.
  void run();

  // The number of denied requests for that need.
  std::uint64_t denied(RegionNeed need) const { return denied_[static_cast<std::size_t>(need)]; }
  // The last measurement of the mature spaces. None if semi-spaces were collected since.
  std::optional<MeasurementTime> measured() const;
  std::uint64_t waiting_count() const { return requests_.size(); }
  // No request is waiting or about to be examined.
  bool is_idle() const { return requests_.empty() && !work_.is_raised() && !flip_asked_; }

 private:
  enum class Decision : std::uint8_t { grant, deny, wait, again, flip, ask_for_regions };
  // Semi-spaces: the garbage and used bytes of the active one at the last measurement. Bytes that
  // are in use but not live never become live, so there is at least as much garbage now.
  struct Measurement {
    std::uint64_t garbage_bytes = 0;
    std::uint64_t used_bytes = 0;
    MeasurementTime time;
    std::uint64_t due_ns = 0;  // time of the next permitted measurement
  };

  void serve();
  Decision decide(const RegionRequest& request);
  Decision decide_by_cleaner(RegionRequest& request);
  bool is_collecting() const;
  std::uint64_t used_bytes() const;  // of the active mature space
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
  BlockCleaner* const cleaner_;  // nullptr with semi-spaces
  WorkSignal work_;
  std::uint64_t look_again_ns_ = fabric::never_ns;
  std::deque<RegionRequest> requests_;
  // by client: the incarnation up to which the server asked for regions
  std::map<std::uint32_t, std::uint64_t> asked_back_;
  std::optional<Measurement> measurement_;
  bool flip_asked_ = false;
  std::array<std::uint64_t, region_need_count> denied_{};
};

}  // namespace falafel::engine
