// A key with its value, and the functions that a scan of all keys calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace falafel::engine {

struct DamagedContainer;

struct KeyAndValue {
  std::span<const std::byte> key;
  std::span<const std::byte> value;
  std::uint64_t time_to_live_ns = 0;  // as of set()
};

// Is called with a key, its value, and what is left of its time to live; 0: it does not expire;
// pinned_time_to_live_ns: it is pinned (engine/layout/pinned.h). The bytes are valid only during
// the call.
using VisitPair = std::function<void(const KeyAndValue& pair)>;

// Is called with a container that does not verify.
using VisitDamaged = std::function<void(const DamagedContainer& damaged)>;

}  // namespace falafel::engine
