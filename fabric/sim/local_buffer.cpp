#include "fabric/sim/local_buffer.h"

#include "fabric/sim/world.h"

namespace falafel::sim {

std::byte* local_buffer(World& world, const Request& request) {
  const fabric::MemoryAddress& local = request.work.local;
  const Region& region = world.regions.at(local.key);
  // The rules of posting checked it. The region may have been revoked since.
  FALAFEL_ASSERT(region.contains(local.offset, request.work.length_bytes),
                 "the local buffer of request {} is outside of region {}", request.work.id,
                 local.key);
  return region.base + local.offset;
}

const std::byte* source_of(World& world, const Request& request) {
  return request.payload.empty() ? local_buffer(world, request) : request.payload.data();
}

void take_payload(World& world, Request& request) {
  if (!request.payload.empty() || request.work.length_bytes == 0) return;
  const std::byte* source = local_buffer(world, request);
  request.payload.assign(source, source + request.work.length_bytes);
}

}  // namespace falafel::sim
