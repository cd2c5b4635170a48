// A table without clients, for tests of what the server does to it: keys are planted as clients would have
// inserted and deleted them, and a watcher looks at every change of an entry.
//
// It objects if a live key cannot be found although its search meets no lock, if more entries are locked at a
// time than may be, or if one is while the rebinding counter is even.
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

  // Runs `body` in a fiber of the server's host, with everything made. The problems that were found.
  std::vector<std::string> run(std::function<void(TableBench&)> body);

  // As a client would do it. False if there is no slot.
  bool insert(const Bytes& key);
  void remove(const Bytes& key);
  // A deleted entry without a key in the first empty slot; a live one whose container does not verify.
  bool plant_stand_in();
  bool plant_unreadable();

  // Cleans the table in a fiber of its own, which is cancelled after so many steps. False if it was through.
  // The server's connections to itself break after `steps_to_break` of them.
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
  std::uint32_t store_container(const Bytes& key);
  std::uint64_t home(const Bytes& key) const;
  void set_entry(std::uint64_t slot, engine::Entry entry);
  std::optional<std::uint64_t> first_empty() const;

  TableBenchOptions options_;
  std::unique_ptr<Watcher> watcher_;
  std::unique_ptr<sim::Strategy> strategy_;
  std::unique_ptr<sim::Simulation> simulation_;
  fabric::Host* host_ = nullptr;
  std::unique_ptr<Parts> parts_;
  engine::ServerStatistics statistics_;
  std::map<Bytes, std::uint32_t> containers_;  // units, of all keys that were ever inserted
  sim::RunResult result_;
};

}  // namespace falafel::engine_test
