// A table without clients, for tests of the server's changes to it. The test plants keys as if
// clients had inserted and deleted them, and a watcher checks every change of an entry.
//
// The watcher reports a live key that a search cannot find without finding a lock, too many locked
// entries, and a locked entry while the rebinding counter is even.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/server/chunk.h"
#include "engine/server/cleanup_by_shift.h"
#include "engine/server/container_reader.h"
#include "engine/server/loopback.h"
#include "engine/server/memory_book.h"
#include "engine/server/rebinding_counter.h"
#include "fabric/fabric.h"
#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/trace.h"
#include "tests/engine/final_state.h"
#include "tests/engine/rival_updater.h"

namespace falafel::engine_test {

struct TableBenchOptions {
  engine::Geometry geometry{};
  engine::Safeguards safeguards = engine::Safeguards::hardened();
  sim::SimulationOptions simulation{};
  std::uint64_t seed = 1;
};

class TableBench {
 public:
  TableBench(const TableBenchOptions& options, fabric::FiberStackPool& stacks);
  ~TableBench();

  // Runs `body` in a fiber of the server's host after everything is set up. Returns the problems
  // found.
  std::vector<std::string> run(std::function<void(TableBench&)> body);

  // Inserts a key as a client would. Returns false if there is no slot.
  bool insert(const Bytes& key);
  void remove(const Bytes& key);
  // Puts into the first empty slot a deleted entry without a key, or a live one with an invalid
  // container.
  bool plant_stand_in();
  bool plant_unreadable();
  void plant_unreadable_at(std::uint64_t slot);
  // Sets entries directly and stores containers whose keys the watcher does not know.
  void set_entry(std::uint64_t slot, engine::Entry entry);
  std::uint32_t store_container(const Bytes& key);
  void set_rival(RivalUpdater::Rival rival);

  // Cleans the table in a separate fiber, which is cancelled after `steps`. Returns false if it
  // finished before. The server's connections to itself break after `steps_to_break` steps.
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  bool clean_for(std::uint64_t steps, std::uint64_t steps_to_break = never);
  void clean();
  std::uint64_t deleted_entries() const;
  bool is_full() const { return !first_empty(); }
  std::uint64_t locked_entries() const;
  engine::Entry entry(std::uint64_t slot) const;

  void require(bool condition, std::string problem);
  fabric::Host& host() { return *host_; }
  const engine::ServerStatistics& statistics() const { return statistics_; }
  std::uint64_t most_locked() const;
  std::uint64_t probe(const fabric::Probe& probe) const { return result_.probes[probe.index]; }

 private:
  class Watcher;
  struct Parts;

  void prepare(fabric::Host& host);
  std::unique_ptr<engine::EntryUpdater> make_updater();
  std::uint64_t home(const Bytes& key) const;
  std::optional<std::uint64_t> first_empty() const;

  TableBenchOptions options_;
  std::unique_ptr<Watcher> watcher_;
  std::unique_ptr<sim::Strategy> strategy_;
  std::unique_ptr<sim::Simulation> simulation_;
  fabric::Host* host_ = nullptr;
  std::unique_ptr<Parts> parts_;
  engine::ServerStatistics statistics_;
  std::map<Bytes, std::uint32_t> containers_;  // offsets in units for all keys ever inserted
  sim::RunResult result_;
};

}  // namespace falafel::engine_test
