// The properties of a request that its completion must report. The device only returns a number.
#pragma once

#include <cstdint>

#include "fabric/work_request.h"

namespace falafel::verbs {

struct RequestReference {
  std::uint64_t id = 0;
  fabric::Opcode opcode = fabric::Opcode::read;
  std::uint64_t sequence = 0;      // in its queue; in a shared receive queue, the slot
  fabric::MemoryAddress buffer{};  // receives
};

// Marks the identifiers of receive requests. The other bits are the sequence number.
inline constexpr std::uint64_t receive_mark = std::uint64_t{1} << 63;

inline fabric::MemoryAddress start_of(const fabric::ReceiveRequest& request) {
  return request.segments.empty() ? request.local : request.segments.front().address;
}

}  // namespace falafel::verbs
