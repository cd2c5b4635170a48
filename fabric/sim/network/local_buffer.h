// The memory of this host that a request uses: its local buffer, which is one registered range or a
// list of segments, and the copy that replaces it once the program may use the buffer again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fabric/sim/memory/device_writes.h"
#include "fabric/sim/network/request.h"
#include "fabric/sim/run/world.h"

namespace falafel::sim {

class StoreBuffer;

// A range in the memory of this host. The rules of posting checked it. Its region may have been
// revoked since.
inline std::byte* locate_local(World& world, const fabric::MemoryAddress& local,
                               std::uint64_t length_bytes) {
  const Region& region = world.regions.at(local.key);
  FALAFEL_ASSERT(region.contains(local.offset, length_bytes),
                 "the local buffer of {} bytes at {} is outside of region {}", length_bytes,
                 local.offset, local.key);
  return region.base + local.offset;
}

// Finds the local buffer of a request that is being posted, once for all of its steps. The rules of
// posting have checked it. The memory exists until the run ends, even if its region is revoked.
inline void find_local_buffer(World& world, Request& request) {
  if (request.work.length_bytes == 0 || !request.work.segments.empty()) return;
  request.local = world.regions.at(request.work.local.key).base + request.work.local.offset;
}

// A range of the data of a WRITE or SEND: in the local buffer, in the copy of it, or, if the range
// is in several segments, gathered in `scratch`.
const std::byte* source_of(World& world, const Request& request, std::uint64_t offset,
                           std::uint64_t length_bytes, std::vector<std::byte>& scratch);

// Reports that a step reads a range of the data in the local buffer.
void touch_source(World& world, const Request& request, std::uint64_t offset,
                  std::uint64_t length_bytes);
// Reports that a step writes a range of the local buffer of a request without segments.
void touch_local_buffer(World& world, const Request& request, std::uint64_t offset,
                        std::uint64_t length_bytes);

// Copies the data, because the program may reuse the local buffer from now on.
void take_payload(World& world, Request& request);
// The same for a request that is being posted: the processor copies, and sees its own stores.
// `stores` is null if they are in memory at once.
void take_inlined_payload(World& world, Request& request, const StoreBuffer* stores);

// A device writes data into a local buffer, from `offset` on.
struct LocalBufferView {
  fabric::MemoryAddress local;
  std::span<const fabric::LocalSegment> segments;
};
void scatter(World& world, const LocalBufferView& buffer, std::uint64_t offset,
             std::span<const std::byte> data);
// The same for a buffer without segments.
inline void put_local(World& world, const fabric::MemoryAddress& local, std::uint64_t offset,
                      std::span<const std::byte> data) {
  if (world.hears(Touchable::memory)) {
    world.touch_memory(world.regions.at(local.key).block_number, local.offset + offset, data.size(),
                       Access::writes);
  }
  std::byte* const to = locate_local(world, local, offset + data.size()) + offset;
  put_bytes(world, to, data.data(), data.size());
}
// The same for the data that a READ returns.
inline void put_local(World& world, const Request& request, std::uint64_t offset,
                      std::span<const std::byte> data) {
  if (!request.work.segments.empty()) {
    scatter(world, {.local = {}, .segments = request.work.segments}, offset, data);
    return;
  }
  if (world.hears(Touchable::memory)) touch_local_buffer(world, request, offset, data.size());
  put_bytes(world, request.local + offset, data.data(), data.size());
}

}  // namespace falafel::sim
