#include "fabric/sim/local_buffer.h"

#include "fabric/sim/world.h"

namespace falafel::sim {

std::byte* local_buffer(World& world, const Request& request) {
  const fabric::MemoryAddress& local = request.work.local;
  return world.regions.at(local.key).base + local.offset;
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
