// Small worlds of the store: two clients with one or two operations each, beside nothing, a
// collection, a cleanup, or a change of the region. They are so small that the explorer can run all
// schedules (docs/proofs.md).
#pragma once

#include <string_view>
#include <vector>

#include "explorer/small_world.h"

namespace falafel::store_scenario {

// An operation of a client of a small world: with key 0, which is in the store, or with key 1,
// which is absent and has the same home slot.
enum class SmallOperation : std::uint8_t {
  get,
  get_absent,
  set_new,
  set,
  remove,
  // GET and then COMPARE-AND-SET with what it found; only in worlds of updates
  update,
  update_absent,
};
inline constexpr std::size_t small_operation_count = 5;  // without updates
std::string_view to_string(SmallOperation operation);

// Events beside the clients' operations.
enum class Beside : std::uint8_t {
  nothing,
  cleanup,     // of the deleted entry in front of key 0, whose entry moves
  collection,  // of a third client's region, which has the container of key 0
  // The same by a server that swaps entries through the device.
  cleanup_by_device,
  collection_by_device,
  region,  // the first client's region is full; it releases the region during its SET
  // The same, but the fibers of a host run in the order in which they became able to.
  region_in_turn,
  // With blocks, of which there are as few as possible.
  region_to_block,  // as `collection`: the container of key 0 moves to the active block
  // A third client's region moves to another block, and then key 0, which is in a block with
  // garbage.
  block,
  region_to_block_by_device,
  block_by_device,
  // The table has one empty slot, which is frozen, and three keys, which move to another one.
  growth,
};
inline constexpr std::size_t beside_count = 12;
std::string_view to_string(Beside beside);

// The operations of each client, one after the other.
using SmallPlans = std::vector<std::vector<SmallOperation>>;
explorer::SmallWorld make_small_world(const SmallPlans& plans, Beside beside);
// One client for each operation.
explorer::SmallWorld make_small_world(const std::vector<SmallOperation>& operations, Beside beside);
// Two clients with the same two operations: the second client makes them in the other order.
explorer::SmallWorld make_crossed_world(SmallOperation first, SmallOperation second, Beside beside);
// The same with location caches in which every client has key 0: one client for each operation.
explorer::SmallWorld make_cached_world(const std::vector<SmallOperation>& operations,
                                       Beside beside);
// The same in a store with fingerprints and size classes.
explorer::SmallWorld make_fingerprint_world(const std::vector<SmallOperation>& operations,
                                            Beside beside);
// The same in a store whose server's process dies at most once, at any step, and starts again over
// its memory. The fibers of a host take turns.
explorer::SmallWorld make_restarted_world(const std::vector<SmallOperation>& operations,
                                          Beside beside);
// All pairs of operations beside everything, except that only a SET changes the region, and single
// SETs that do; all crossed worlds beside nothing, a cleanup and a collection; and, beside the
// same, all pairs of GET, SET and DELETE of key 0 with location caches, and all pairs of operations
// with fingerprints; updates beside other operations and beside the same; single operations and
// pairs in a store that restarts.
std::vector<explorer::SmallWorld> all_small_worlds();

}  // namespace falafel::store_scenario
