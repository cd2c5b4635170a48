#include "fabric/sim/network/local_buffer.h"

#include <algorithm>

#include "fabric/sim/run/store_buffer.h"

namespace falafel::sim {

namespace {

void touch(World& world, const fabric::MemoryAddress& local, std::uint64_t offset,
           std::uint64_t length_bytes, Access access) {
  if (!world.hears(Touchable::memory)) return;
  world.touch_memory(world.regions.at(local.key).block_number, local.offset + offset, length_bytes,
                     access);
}

// Calls `use(begin, length_bytes)` for the pieces of a range, in order.
template <typename Use>
void for_each_piece(World& world, std::span<const fabric::LocalSegment> segments,
                    std::uint64_t offset, std::uint64_t length_bytes, Access access,
                    const Use& use) {
  for (const fabric::LocalSegment& segment : segments) {
    if (length_bytes == 0) return;
    if (offset >= segment.length_bytes) {
      offset -= segment.length_bytes;
      continue;
    }
    const std::uint64_t piece_bytes = std::min(segment.length_bytes - offset, length_bytes);
    touch(world, segment.address, offset, piece_bytes, access);
    use(locate_local(world, segment.address, segment.length_bytes) + offset, piece_bytes);
    offset = 0;
    length_bytes -= piece_bytes;
  }
  FALAFEL_ASSERT(length_bytes == 0, "{} bytes are beyond the last segment", length_bytes);
}

void gather(World& world, const Request& request, std::uint64_t offset, std::uint64_t length_bytes,
            std::vector<std::byte>& gathered) {
  gathered.clear();
  for_each_piece(world, request.work.segments, offset, length_bytes, Access::reads,
                 [&](const std::byte* begin, std::uint64_t piece_bytes) {
                   gathered.insert(gathered.end(), begin, begin + piece_bytes);
                 });
}

}  // namespace

void touch_source(World& world, const Request& request, std::uint64_t offset,
                  std::uint64_t length_bytes) {
  if (request.work.inlined || length_bytes == 0) return;
  if (request.work.segments.empty()) {
    touch(world, request.work.local, offset, length_bytes, Access::reads);
    return;
  }
  for_each_piece(world, request.work.segments, offset, length_bytes, Access::reads,
                 [](const std::byte*, std::uint64_t) {});
}

void touch_local_buffer(World& world, const Request& request, std::uint64_t offset,
                        std::uint64_t length_bytes) {
  touch(world, request.work.local, offset, length_bytes, Access::writes);
}

const std::byte* source_of(World& world, const Request& request, std::uint64_t offset,
                           std::uint64_t length_bytes, std::vector<std::byte>& scratch) {
  if (!request.payload.empty()) {
    // Lanes touch the same, whether or not the completion came first.
    if (world.tells_lanes) touch_source(world, request, offset, length_bytes);
    return request.payload.data() + offset;
  }
  if (request.work.segments.empty()) {
    touch(world, request.work.local, offset, length_bytes, Access::reads);
    return request.local + offset;
  }
  gather(world, request, offset, length_bytes, scratch);
  return scratch.data();
}

void take_payload(World& world, Request& request) {
  if (!request.payload.empty() || request.work.length_bytes == 0) return;
  if (!request.work.segments.empty()) {
    gather(world, request, 0, request.work.length_bytes, request.payload);
    return;
  }
  touch(world, request.work.local, 0, request.work.length_bytes, Access::reads);
  request.payload.assign(request.local, request.local + request.work.length_bytes);
}

void take_inlined_payload(World& world, Request& request, const StoreBuffer* stores) {
  take_payload(world, request);
  if (stores == nullptr || stores->empty() || request.payload.empty()) return;
  if (request.work.segments.empty()) {
    stores->show_own_stores(request.local, request.payload);
    return;
  }
  std::span<std::byte> seen = request.payload;
  for (const fabric::LocalSegment& segment : request.work.segments) {
    stores->show_own_stores(locate_local(world, segment.address, segment.length_bytes),
                            seen.first(segment.length_bytes));
    seen = seen.subspan(segment.length_bytes);
  }
}

void scatter(World& world, const LocalBufferView& buffer, std::uint64_t offset,
             std::span<const std::byte> data) {
  if (buffer.segments.empty()) {
    put_local(world, buffer.local, offset, data);
    return;
  }
  const std::byte* from = data.data();
  for_each_piece(world, buffer.segments, offset, data.size(), Access::writes,
                 [&](std::byte* to, std::uint64_t piece_bytes) {
                   put_bytes(world, to, from, piece_bytes);
                   from += piece_bytes;
                 });
}

}  // namespace falafel::sim
