// Allocates memory for containers: consecutive parts of a region that the server granted to this
// client alone (Behringer 3.3). A full region returns to the server, which collects its live
// containers; the client requests the next region before the current one is full (4.3.1). The
// allocator queues messages, and the session sends them.
//
// A region that is not full also returns when the server reclaims it for others, but only after
// every fiber that waits for memory has received some. Each grant therefore serves at least one
// SET.
//
// The allocator refuses memory to a fiber only after the denial of a request that was made after
// the fiber's call. Memory may have become free since an earlier denial.
//
// The allocator reports to the server when DELETEs and shorter values have freed memory, so that
// the server does not deny regions by what it measured before.
//
// When the memory is full, the server may still grant a region from its reserve, for SETs that
// overwrite a key without using more memory. The client fills it like any other, so the server
// collects one region for many SETs. With each region of the reserve, the client asks for one that
// is not from it. When the server grants one, the region of the reserve returns.
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
#include "engine/time_bounds.h"
#include "fabric/fabric.h"

namespace falafel::engine {

struct Allocation {
  std::uint64_t offset = 0;  // from the start of the chunk
  std::uint64_t size_bytes = 0;
  std::uint32_t remote_key = 0;
  std::uint64_t incarnation = 0;  // of the region's grant
};

struct RegionAllocatorOptions {
  std::uint32_t renewal_percent = 75;
  std::uint64_t server_timeout_ns = default_server_timeout_ns;
  bool release_after_completion = true;  // see Safeguards
};

class RegionAllocator {
 public:
  RegionAllocator(fabric::Host& host, const Geometry& geometry,
                  const RegionAllocatorOptions& options, std::function<void()> on_message);

  // `size_bytes` is a multiple of the unit and at most the size of a region. Waits until the
  // deadline. Errors: out_of_memory, disconnected, timed_out.
  tl::expected<Allocation, Answer> allocate(std::uint64_t size_bytes, std::uint64_t deadline_ns);
  // Allocates from the server's reserve; only for replacing a container that is at least as large.
  tl::expected<Allocation, Answer> allocate_for_overwrite(std::uint64_t size_bytes,
                                                          std::uint64_t deadline_ns);
  // The server has denied a region to a SET that waited, and has granted none since but from the
  // reserve.
  bool is_short() const { return is_short_; }
  // When a SET that begins to wait now gives up.
  std::uint64_t deadline_ns() const { return host_.now_ns() + options_.server_timeout_ns; }
  // A DELETE or a shorter value has turned this many bytes of a container into garbage.
  void note_freed(std::uint64_t bytes);
  // Returns whether allocate() would not wait.
  bool has_room(std::uint64_t size_bytes) const;
  // All requests that refer to the allocation have completed. An entry may point to it.
  void finish(const Allocation& allocation);
  // Neither requests nor entries refer to the allocation, so its memory can be reused.
  void give_back(const Allocation& allocation);
  // The fiber that used the allocation was cancelled; requests that refer to it may be in flight.
  void abandon(const Allocation& allocation) noexcept;
  // The number of allocations abandoned so far; and notification that all requests posted before
  // the first `count` were abandoned have completed.
  std::uint64_t abandoned_count() const { return finished_abandoned_ + abandoned_.size(); }
  void finish_abandoned(std::uint64_t count);

  // Handle the server's messages; return false if the message is inconsistent with this state.
  bool on_granted(const ControlMessage& grant);
  bool on_denied();
  void on_wanted_back(const ControlMessage& question);
  void on_broken();

  // The next message to the server.
  std::optional<ControlMessage> take_message();
  // The server has asked for the return of this allocation's region.
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
    std::uint32_t unfinished = 0;  // allocations that pending work refers to
    bool renewed = false;          // the next region has been requested
  };
  using RegionPointer = std::unique_ptr<Region>;
  // The memory for one kind of SET.
  struct Supply {
    RegionNeed need = RegionNeed::waiting;
    RegionPointer current{};
    RegionPointer next{};
    std::uint64_t last_denied = 0;          // number of the last request that was denied
    std::uint32_t ongoing_allocations = 0;  // number of fibers in allocate()
  };
  class OngoingAllocation;

  tl::expected<Allocation, Answer> allocate(std::uint64_t size_bytes, Supply& supply,
                                            std::uint64_t deadline_ns);
  Allocation take(std::uint64_t size_bytes, Supply& supply);
  void renew_eagerly();
  void request(RegionNeed need);
  void report_freed();
  void give_back_what_is_not_needed(Supply& supply);
  bool is_to_go_back(const Supply& supply, const Region& region) const;
  void retire(RegionPointer& region);
  void release(const Region& region);
  void prepare_for_grant();
  Region& find(std::uint64_t incarnation);
  bool holds(std::uint64_t incarnation) const;

  fabric::Host& host_;
  Geometry geometry_;
  RegionAllocatorOptions options_;
  std::function<void()> on_message_;
  std::unique_ptr<fabric::Event> changed_;
  Supply general_{.need = RegionNeed::waiting};
  Supply reserve_{.need = RegionNeed::overwrite};
  std::vector<RegionPointer> retired_;  // waiting until all work there has completed
  RegionPointer unused_;                // for the next grant
  std::vector<ControlMessage> messages_;
  std::deque<Allocation> abandoned_;
  std::uint64_t finished_abandoned_ = 0;
  std::uint64_t requests_ = 0;  // number of the last request
  std::optional<RegionNeed> requested_;
  std::uint64_t wanted_back_ = 0;  // the server wants regions granted up to this incarnation back
  bool is_short_ = false;
  std::uint64_t freed_bytes_ = 0;  // not reported yet
  bool is_report_due_ = false;
  bool broken_ = false;
};

}  // namespace falafel::engine
