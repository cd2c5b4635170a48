// The memory of the container that a SET writes.
//
// SET allocates memory before FIND, although it needs the memory only afterwards. An allocation may
// wait for the server, and the server may wait until no operation remembers what it read.
//
// If there is no memory, an existing key can still receive a value whose container is not larger
// than the old one. SET finds the key, discards what it read, and allocates memory from the
// server's reserve for overwriting. While the server is known to be short of memory, SET begins
// with that.
#pragma once

#include <cstdint>
#include <optional>
#include <tl/expected.hpp>

#include "engine/client/find.h"
#include "engine/client/pending_operation.h"
#include "engine/client/region_allocator.h"
#include "engine/layout/geometry.h"
#include "engine/layout/key_hash.h"

namespace falafel::engine {

// An allocation. The operation keeps it, gives it back or, if the fiber is cancelled,
// abandons it, because requests in flight may still refer to it.
class Place {
 public:
  Place(RegionAllocator& regions, const Allocation& allocation)
      : regions_(regions), allocation_(allocation) {}
  ~Place() {
    if (!over_) regions_.abandon(allocation_);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  std::optional<Answer> publish(std::optional<Answer> answer) {
    over_ = true;
    regions_.finish(allocation_);
    return answer;
  }
  std::optional<Answer> give_back(std::optional<Answer> answer) {
    over_ = true;
    regions_.give_back(allocation_);
    return answer;
  }

 private:
  RegionAllocator& regions_;
  Allocation allocation_;
  bool over_ = false;
};

// The changes that a SET may make in the table.
enum class Permission : std::uint8_t { any_change, overwrite_only };

// Returns whether a container of this length may replace the one that was found.
bool can_be_overwritten(const FindResult& position, std::uint64_t size_bytes,
                        const Geometry& geometry);

// The attempts of a SET share this.
struct Attempts {
  // The SET does not wait for memory after this time.
  std::optional<std::uint64_t> deadline_ns{};
  // The SET has tried to overwrite before it was denied other memory.
  bool has_tried_reserve = false;
};

struct Memory {
  Allocation allocation{};
  Permission permission = Permission::any_change;
};

// Waits for the server. Begins and forgets searches of its own if the server has no memory.
tl::expected<Memory, Answer> find_memory(PendingOperation& operation, const HashedKey& key,
                                         std::uint64_t size_bytes, Attempts& attempts);

// Returns whether the SET has to try again because the key has changed since it was looked for:
// it may need other memory.
bool was_refused_too_early(const Memory& memory, const std::optional<Answer>& answer,
                           Attempts& attempts);

}  // namespace falafel::engine
