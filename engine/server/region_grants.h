// Handles requests for regions. The answer to a request is a grant, a denial, or a delayed answer
// (Behringer 3.3).
//
// Requests have their own fiber, so they do not wait for a collection (3.6.1: garbage collection
// runs in parallel to answering requests). Granting during a collection is safe because a region
// that is being collected counts as outstanding until everything in it is copied. Room in the
// mature space that the collector still needs is therefore never promised to a grant.
//
// Requests are served in order of arrival, but those that overwrite need less room and do not wait
// for others. The first one waits as long as memory may become available: memory that is being
// collected, that waits for clients, or that clients hold. The server asks those clients to return
// their regions, because even a region with much room left counts as full. It denies the request
// only after all of this memory has returned and the live data has been measured. With blocks, the
// cleaner makes room instead, until no block is worth a collection. A request therefore never
// starves while memory is free. A client that does not return its regions delays others by at most
// its heartbeat time-out, after which the server gives up on it.
//
// A client that has reached its quota waits until its next region is due, before its request takes
// its place behind those of others (write_quota.h).
//
// Clients that compete for regions all make progress: a client returns a region only after each of
// its fibers that wait for memory has received some, so every grant serves at least one SET.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "engine/layout/control_message.h"
#include "engine/server/held_memory.h"
#include "engine/server/mature_space.h"
#include "engine/server/membership.h"
#include "engine/server/memory_book.h"
#include "engine/server/server_inspection.h"
#include "engine/server/server_options.h"
#include "engine/server/work_signal.h"
#include "engine/server/write_quota.h"
#include "fabric/fabric.h"

namespace falafel::engine {

struct RegionRequest {
  std::uint32_t client = 0;
  RegionNeed need = RegionNeed::waiting;
  // The incarnation of the last grant when its turn came.
  std::optional<std::uint64_t> turn_at_incarnation{};
  // The server asked for regions with incarnations up to this one to serve the request.
  std::optional<std::uint64_t> asked_back_up_to{};
  RoomRequest room{};
};

class RegionGrants {
 public:
  RegionGrants(fabric::Host& host, const ServerOptions& options, MemoryBook& book, HeldMemory& held,
               Membership& membership, ServerStatistics& statistics, MatureSpace& mature);

  void add(const RegionRequest& request);
  void remove_client(std::uint32_t client);
  void on_released(std::uint32_t client);
  // Memory was collected or freed.
  void on_change() { work_.raise(); }

  // The fiber's main loop.
  void run();

  // The number of denied requests for that need.
  std::uint64_t denied(RegionNeed need) const { return denied_[static_cast<std::size_t>(need)]; }
  std::uint64_t waiting_count() const {
    return requests_.size() + overwrites_.size() + postponed_.size();
  }
  // No request is waiting or about to be examined.
  bool is_idle() const { return waiting_count() == 0 && !work_.is_raised(); }

 private:
  enum class Decision : std::uint8_t {
    grant,
    deny,
    wait,
    wait_for_room,
    make_room,
    ask_for_regions,
    ask_for_room,  // also by asking for regions
  };

  using Requests = std::deque<RegionRequest>;

  void enqueue(const RegionRequest& request);
  void postpone(const RegionRequest& request);
  // Enqueues those that are due. Returns when the next one is.
  std::uint64_t enqueue_postponed();
  void serve(Requests& requests);
  // Returns false if the first request waits.
  bool serve_first(Requests& requests);
  // Changes nothing.
  Decision decide(const RegionRequest& request, const Outlook& outlook) const;
  void make_room(Requests& requests);
  // A region with an incarnation up to this one is released or being collected.
  bool is_collecting(std::uint64_t up_to_incarnation) const;
  bool ask_for_regions(RegionRequest& request);
  void grant(const RegionRequest& request);
  void deny(const RegionRequest& request);

  fabric::Host& host_;
  const ServerOptions& options_;
  MemoryBook& book_;
  HeldMemory& held_;
  Membership& membership_;
  ServerStatistics& statistics_;
  MatureSpace& mature_;
  WorkSignal work_;
  std::uint64_t look_again_ns_ = fabric::never_ns;
  WriteQuota quota_;
  Requests postponed_;   // of clients that have reached their quota
  Requests overwrites_;  // need room for overwrites only
  Requests requests_;    // the others
  // by client: the incarnation up to which the server asked for regions
  std::map<std::uint32_t, std::uint64_t> asked_back_;
  std::array<std::uint64_t, region_need_count> denied_{};
};

}  // namespace falafel::engine
