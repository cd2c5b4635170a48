// Builds small worlds of the store: scenarios with a stage (scenario.h) in which a few operations
// run beside one thing that the server does.
//
// A world's table has five entries. Keys 0, 1 and 3 have the same home slot, and keys 2 and 7 have
// another one. Timers that would come during the stage, such as heartbeats, come after its end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "explorer/small_world.h"
#include "tools/scenarios/store/scenario.h"

namespace falafel::store_scenario {

class SmallWorldBuilder {
 public:
  // The keys of the clients' operations, as a rule: one that is in the store, and one that is not.
  static constexpr std::uint32_t present_key = 0;
  static constexpr std::uint32_t absent_key = 1;
  static constexpr std::uint32_t other_key = 2;  // with another home slot; it takes memory
  static constexpr std::uint32_t deleted_key = 3;
  static constexpr std::uint32_t filling_key = 7;  // with the home slot of other_key

  // With a table of one entry, all keys have the same home slot.
  static constexpr std::uint64_t usual_table_entries = 5;
  static constexpr std::uint32_t usual_value_bytes = 3;
  static constexpr std::uint64_t usual_containers = 8;
  struct Size {
    std::uint64_t table_entries = usual_table_entries;
    std::uint64_t containers_of_region = usual_containers;
    std::uint64_t region_count = 8;
    std::uint32_t value_bytes = usual_value_bytes;
  };
  SmallWorldBuilder() : SmallWorldBuilder(Size{}) {}
  explicit SmallWorldBuilder(const Size& size);

  // Before the stage, one after the other.
  void prepare_set(std::uint32_t client, std::uint32_t key);
  void prepare_delete(std::uint32_t client, std::uint32_t key);
  // With a location cache, the client then knows where the key is.
  void prepare_get(std::uint32_t client, std::uint32_t key);
  // Fills the client's region up to `containers`.
  void fill_region(std::uint32_t client, std::uint64_t containers);
  // The client pauses at one of its steps at the beginning of the stage, for `duration_ns`.
  void pause_client(std::uint32_t client, std::uint64_t duration_ns);
  // Messages that clients send from now on arrive at the beginning of the stage.
  void pause_server();

  // During the stage. A client's plan is a list of operations; returns its number.
  std::uint32_t add_client(const std::vector<PlannedOperation>& operations,
                           std::uint32_t fibers = 1);
  PlannedOperation get(std::uint32_t key) const;
  PlannedOperation set(std::uint32_t key) const;
  PlannedOperation update(std::uint32_t key) const;
  PlannedOperation remove(std::uint32_t key) const;
  void clean_up();
  // The server collects the region of an additional client, which has the container of this key.
  // Before that, calls `prepare_more`, which prepares operations that need the key.
  void collect_region_with(std::uint32_t key, const std::function<void()>& prepare_more = {});
  // Requires blocks. The server collects the block that has the container of this key. Before that,
  // it collects the region of an additional client into another block. SETs of this client have
  // left garbage in the block.
  void collect_block_with(std::uint32_t key, const std::function<void()>& prepare_more = {});

  // The table grows, and all keys of the store move. An additional client fills three quarters of
  // the table, with this key, others and a deleted one, and then requests a region.
  void grow_table_with(std::uint32_t key, const std::function<void()>& prepare_more = {});

  // The server's process dies at most once, at any step, and the next one starts over its memory.
  void restart_server();

  // Clients have location caches, whose entries never expire.
  void cache_locations();
  // Entries have the most bits for fingerprints and size classes.
  void use_fingerprints();
  // The memory has `count` blocks of the length of a region instead of semi-spaces, and no reserve,
  // which the fewest blocks do not have either.
  void use_blocks(std::uint32_t count);
  // The server swaps entries through the device instead of with its processor.
  void swap_by_device();
  // The fibers of a host run in the order in which they became able to.
  void take_turns();
  // The server does not ask clients whether they are quiescent before it reuses memory. In a world
  // without reuse, only the messages are missing.
  void free_at_once();

  Scenario& scenario() { return scenario_; }
  // The part of the run that is explored is the stage.
  explorer::SmallWorld build(std::string name) const;

 private:
  void prepare(std::uint32_t client, const PlannedOperation& operation);
  std::uint64_t container_bytes() const;

  Size size_;
  Scenario scenario_;
  std::uint64_t next_ns_;
};

explorer::SmallWorld make_world(std::string name, const Scenario& scenario);

}  // namespace falafel::store_scenario
