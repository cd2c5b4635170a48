// A gate lets a peer into memory that both processes have mapped, and keeps it out again. Only the
// peer enters; it marks itself busy and then looks at the state. Whoever closes the gate leaves
// `ready` and then looks whether the peer is busy. Whatever the order, one of the two sees the
// other.
//
// The gates of shm connections are in the owner's shared memory, or in the file that keeps its
// memory (kept_gates.h). Others can then close them when the owner's process has ended.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace falafel::fabric {

enum class GateState : std::uint32_t { unused, ready, error, closed };

struct Gate {
  static constexpr std::size_t line_bytes = 64;

  // Owner and peer advance it, never back, until the gate is given to another peer.
  alignas(line_bytes) std::atomic<GateState> state;
  // The rest of the line is used only in a file: who may enter.
  std::atomic<std::uint64_t> pass;  // no two peers have the same; 0: nobody enters any more
  std::atomic<std::uint64_t> peer_started;
  std::atomic<std::uint64_t> peer_namespace;
  std::atomic<std::uint64_t> peer_boot;
  std::atomic<std::int32_t> peer_process;
  // Written by the peer: nonzero while it carries out requests. If the state is no longer `ready`
  // and this is 0, no request of the peer is in progress, and none will begin.
  alignas(line_bytes) std::atomic<std::uint32_t> peer_is_busy;
};
static_assert(sizeof(Gate) == 2 * Gate::line_bytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes share these atomics");
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "processes share these atomics");

}  // namespace falafel::fabric
