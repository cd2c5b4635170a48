// Memory for containers: consecutive pieces of a region that the server granted to this client alone
// (Behringer 3.3). A full region goes back to the server, which collects what lives in it; the next one
// is asked for before that (4.3.1). Messages are queued here and sent by the session.
//
// A region also goes back when the server wants it back for others, even if it is not full, but not before
// every fiber that waits for memory has had some: so each grant serves one SET at least.
//
// When the memory is full, the server may still grant a region from its reserve, for SETs that overwrite a
// key without taking more memory. Such a region goes back as soon as nobody needs it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <tl/expected.hpp>
#include <vector>

#include "engine/client/results.h"
#include "engine/layout/control_message.h"
#include "engine/layout/geometry.h"
#include "fabric/fabric.h"

namespace falafel::engine {

struct Allocation {
  std::uint64_t offset = 0;  // from the chunk's start
  std::uint64_t size_bytes = 0;
  std::uint32_t remote_key = 0;
  std::uint64_t incarnation = 0;  // of the region
};

struct RegionAllocatorOptions {
  std::uint32_t renewal_percent = 75;
  std::uint64_t server_timeout_ns = 20'000'000'000;
  bool release_after_completion = true;  // Safeguards
};

class RegionAllocator {
 public:
  RegionAllocator(fabric::Host& host, const Geometry& geometry,
                  const RegionAllocatorOptions& options, std::function<void()> on_message);

  // `size_bytes`: a multiple of the unit, at most a region. Waits. Errors: out_of_memory, disconnected,
  // timed_out.
  tl::expected<Allocation, Answer> allocate(std::uint64_t size_bytes);
  // The same from the server's reserve: only to replace a container that is not shorter.
  tl::expected<Allocation, Answer> allocate_for_overwrite(std::uint64_t size_bytes);
  // Nothing refers to it any more but an entry, if it was published.
  void finish(const Allocation& allocation);
  // Nothing refers to it at all, so that it can be used again.
  void give_back(const Allocation& allocation);
  // The fiber that used it is gone, and requests that refer to it may be under way.
  void abandon(const Allocation& allocation) { abandoned_.push_back(allocation); }
  // How many were abandoned so far, and that requests posted before the first `count` were have completed.
  std::uint64_t abandoned_count() const { return finished_abandoned_ + abandoned_.size(); }
  void finish_abandoned(std::uint64_t count);

  // What the server says; false if that makes no sense.
  bool on_granted(const ControlMessage& grant);
  bool on_denied();
  void on_wanted_back(const ControlMessage& question);
  void on_broken();

  // The next message to the server.
  std::optional<ControlMessage> take_message();
  // The server waits for the region of this allocation.
  bool is_wanted_back(const Allocation& allocation) const {
    return allocation.incarnation <= wanted_back_;
  }

 private:
  struct Region {
    std::uint64_t offset = 0;
    std::uint32_t index = 0;
    std::uint32_t remote_key = 0;
    std::uint64_t incarnation = 0;
    std::uint64_t used_bytes = 0;
    std::uint32_t unfinished = 0;  // allocations that work under way refers to
    bool renewed = false;          // the next one has been asked for
  };
  using RegionPointer = std::unique_ptr<Region>;
  // The memory of one kind of SETs.
  struct Supply {
    RegionNeed need = RegionNeed::waiting;
    RegionPointer current{};
    RegionPointer next{};
    std::uint64_t denials = 0;
    std::uint32_t takers = 0;  // fibers in allocate()
  };
  class Taker;

  tl::expected<Allocation, Answer> allocate(std::uint64_t size_bytes, Supply& supply);
  Allocation take(std::uint64_t size_bytes, Supply& supply);
  void renew_eagerly();
  void request(RegionNeed need);
  void give_back_what_is_not_needed(Supply& supply);
  bool is_to_go_back(const Supply& supply, const Region& region) const;
  void retire(RegionPointer& region);
  void release(const Region& region);
  Region& find(std::uint64_t incarnation);
  bool holds(std::uint64_t incarnation) const;

  fabric::Host& host_;
  Geometry geometry_;
  RegionAllocatorOptions options_;
  std::function<void()> on_message_;
  std::unique_ptr<fabric::Event> changed_;
  Supply general_{.need = RegionNeed::waiting};
  Supply reserve_{.need = RegionNeed::overwrite};
  std::vector<RegionPointer> retired_;  // until all work there has completed
  std::deque<ControlMessage> messages_;
  std::deque<Allocation> abandoned_;
  std::uint64_t finished_abandoned_ = 0;
  std::optional<RegionNeed> requested_;
  std::uint64_t wanted_back_ = 0;  // regions granted up to this incarnation are
  bool broken_ = false;
};

}  // namespace falafel::engine
