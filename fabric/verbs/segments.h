// The local buffer of a request as libibverbs takes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fabric/assert.h"
#include "fabric/verbs/resources.h"
#include "fabric/work_request.h"

namespace falafel::verbs {

// Appends the segments of the request. The device gets their addresses, so the vector must have
// room for them.
template <typename Request>
void append_segments(const Request& request, std::vector<ibv_sge>& buffers) {
  const auto append = [&](const fabric::MemoryAddress& address, std::uint32_t length_bytes) {
    FALAFEL_ASSERT(buffers.size() < buffers.capacity(), "{} segments do not fit",
                   buffers.size() + 1);
    buffers.push_back({.addr = address.offset, .length = length_bytes, .lkey = address.key});
  };
  for (const fabric::LocalSegment& segment : request.segments) {
    append(segment.address, segment.length_bytes);
  }
  if (request.segments.empty() && request.length_bytes > 0) {
    append(request.local, request.length_bytes);
  }
}

}  // namespace falafel::verbs
