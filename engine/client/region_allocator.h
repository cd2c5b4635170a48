// Memory for containers: consecutive pieces of a region that the server granted to this client alone
// (Behringer 3.3). A full region goes back to the server, which collects what lives in it; the next one
// is asked for before that (4.3.1). Messages are queued here and sent by the session.
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
  // Nothing refers to it any more but an entry, if it was published.
  void finish(const Allocation& allocation);
  // Nothing refers to it at all, so that it can be used again.
  void give_back(const Allocation& allocation);

  // What the server says; false if that makes no sense.
  bool on_granted(const ControlMessage& grant);
  bool on_denied();
  void on_broken();

  // The next message to the server.
  std::optional<ControlMessage> take_message();

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

  Allocation take(std::uint64_t size_bytes);
  void renew_eagerly();
  void request(bool eager);
  void retire_current();
  void release(const Region& region);
  Region& find(std::uint64_t incarnation);
  bool holds(std::uint64_t incarnation) const;

  fabric::Host& host_;
  Geometry geometry_;
  RegionAllocatorOptions options_;
  std::function<void()> on_message_;
  std::unique_ptr<fabric::Event> changed_;
  RegionPointer current_;
  RegionPointer next_;
  std::vector<RegionPointer> retired_;  // full, until all work there has completed
  std::deque<ControlMessage> messages_;
  std::uint64_t denials_ = 0;
  std::uint32_t waiting_ = 0;  // fibers in need of a region
  bool requested_ = false;
  bool requested_eagerly_ = false;
  bool broken_ = false;
};

}  // namespace falafel::engine
