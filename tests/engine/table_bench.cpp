#include "tests/engine/table_bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "engine/layout/container.h"
#include "engine/layout/status_line.h"
#include "engine/local_memory.h"
#include "engine/server/loopback_updater.h"
#include "engine/server/processor_updater.h"
#include "fabric/sim/strategies/make_strategy.h"

namespace falafel::engine_test {

using engine::Entry;

namespace {

constexpr std::uint16_t service = 7;
constexpr std::uint64_t most_locks = 2;

}  // namespace

// Mirrors the table after every change, and checks its invariants during a cleanup.
class TableBench::Watcher : public sim::TraceObserver {
 public:
  explicit Watcher(const engine::Geometry& geometry)
      : geometry_(geometry), entries_(geometry.table_entries) {}

  // Starts to check; `keys` has the home slot and container of each live key.
  struct Key {
    std::uint64_t home;
    std::uint32_t container_units;
  };
  void watch(std::vector<Key> keys) {
    keys_ = std::move(keys);
    is_watching_ = true;
  }
  const std::vector<Entry>& entries() const { return entries_; }
  const std::set<std::string>& problems() const { return problems_; }
  std::uint64_t most_locked() const { return most_locked_; }
  std::uint64_t locked() const {
    return static_cast<std::uint64_t>(std::ranges::count_if(entries_, &Entry::is_locked));
  }
  void require(bool condition, std::string problem) {
    if (!condition) problems_.insert(std::move(problem));
  }

  sim::EventKinds observed_kinds() const override {
    return sim::event_kinds({sim::EventKind::atomic_written, sim::EventKind::processor_access});
  }
  void observe(const sim::TraceEvent& event) override {
    if (event.offset == engine::rebindings_offset) counter_ = event.word;
    const std::uint64_t begin = engine::Geometry::table_offset();
    const std::uint64_t end = begin + geometry_.table_entries * engine::entry_bytes;
    if (event.offset < begin || event.offset >= end || !event.data.empty()) return;
    entries_[(event.offset - begin) / engine::entry_bytes] = Entry(event.word);
    if (is_watching_) check();
  }

 private:
  void check() {
    most_locked_ = std::max(most_locked_, locked());
    require(locked() <= most_locks, fmt::format("{} entries are locked", locked()));
    require(locked() == 0 || counter_ % 2 == 1, "an entry is locked, but the counter is even");
    for (const Key& key : keys_) check_reachable(key);
  }
  void check_reachable(const Key& key) {
    for (std::uint64_t step = 0; step < geometry_.table_entries; ++step) {
      const Entry entry = entries_[(key.home + step) % geometry_.table_entries];
      if (entry.is_locked() || entry.reference() == key.container_units) return;
      if (entry.is_empty()) break;
    }
    require(false, fmt::format("the key with the container {} is not found", key.container_units));
  }

  const engine::Geometry geometry_;
  std::vector<Entry> entries_;
  std::vector<Key> keys_;
  std::set<std::string> problems_;
  std::uint64_t counter_ = 0;
  std::uint64_t most_locked_ = 0;
  bool is_watching_ = false;
};

struct TableBench::Parts {
  explicit Parts(const engine::Geometry& geometry) : book(geometry) {}

  engine::ServerOptions server_options;
  engine::Chunk chunk;
  engine::MemoryBook book;
  std::unique_ptr<fabric::ProtectionDomain> domain;
  std::unique_ptr<fabric::MemoryRegion> whole_chunk;
  std::unique_ptr<fabric::Listener> listener;
  std::unique_ptr<engine::LoopbackConnector> connector;
  std::unique_ptr<RivalUpdater> updater;
  std::unique_ptr<engine::ContainerReader> reader;
  std::unique_ptr<engine::RebindingCounter> rebindings;
  std::unique_ptr<engine::CleanupByShift> cleanup;
};

TableBench::TableBench(const TableBenchOptions& options, fabric::FiberStackPool& stacks)
    : options_(options),
      watcher_(std::make_unique<Watcher>(options.geometry)),
      strategy_(sim::make_strategy(options.simulation, options.seed)),
      simulation_(std::make_unique<sim::Simulation>(options_.simulation, *strategy_, stacks,
                                                    watcher_.get())) {}

TableBench::~TableBench() = default;

std::vector<std::string> TableBench::run(std::function<void(TableBench&)> body) {
  simulation_->add_host({.name = "server", .role = sim::Role::server},
                        [this, body](fabric::Host& host) {
                          prepare(host);
                          body(*this);
                        });
  result_ = simulation_->run();
  require(result_.outcome == sim::Outcome::completed, result_.explanation);
  std::set<std::string> problems = watcher_->problems();
  parts_.reset();  // destroyed first because it refers to the simulation
  simulation_.reset();
  return {problems.begin(), problems.end()};
}

void TableBench::prepare(fabric::Host& host) {
  host_ = &host;
  parts_ = std::make_unique<Parts>(options_.geometry);
  Parts& parts = *parts_;
  parts.server_options = {.geometry = options_.geometry,
                          .safeguards = options_.safeguards,
                          .service = service,
                          .acknowledge_timeout_ns = 100'000};
  parts.chunk = {.geometry = options_.geometry,
                 .block = host.allocate_memory(options_.geometry.chunk_bytes()).value()};
  std::vector<std::byte> stand_in(engine::container_header_bytes);
  engine::write_unreadable_container(stand_in);
  parts.chunk.write(engine::Geometry::stand_in_offset(), stand_in);
  parts.domain = host.device(0).create_protection_domain();
  parts.whole_chunk =
      parts.domain
          ->register_memory(parts.chunk.block, 0, options_.geometry.chunk_bytes(),
                            {.local_write = true, .remote_read = true, .remote_atomic = true})
          .value();
  parts.connector =
      std::make_unique<engine::LoopbackConnector>(host, *parts.domain, parts.server_options);
  parts.listener = host.device(0).listen(service).value();
  host.spawn({.name = "accept", .daemon = true}, [&parts] {
    for (;;) parts.connector->accept(*parts.listener->accept(fabric::never_ns));
  });
  parts.updater = std::make_unique<RivalUpdater>(make_updater());
  parts.reader = std::make_unique<engine::ContainerReader>(
      host, parts.chunk, parts.book, *parts.connector, parts.whole_chunk->remote_key(),
      engine::allocate_local_memory(host, *parts.domain, 4'096).value());
  parts.rebindings = std::make_unique<engine::RebindingCounter>(parts.chunk);
  parts.cleanup = std::make_unique<engine::CleanupByShift>(
      host, parts.chunk, parts.server_options.safeguards, *parts.updater, *parts.reader,
      *parts.rebindings, statistics_);
}

std::unique_ptr<engine::EntryUpdater> TableBench::make_updater() {
  Parts& parts = *parts_;
  if (options_.simulation.atomic_capability == fabric::AtomicCapability::global) {
    return std::make_unique<engine::ProcessorUpdater>(parts.chunk);
  }
  auto results = engine::allocate_local_memory(
      *host_, *parts.domain, parts.server_options.pipelined_updates * fabric::word_bytes);
  return std::make_unique<engine::LoopbackUpdater>(
      *host_, parts.chunk, *parts.connector, parts.whole_chunk->remote_key(),
      parts.whole_chunk->remote_key(), std::move(*results));
}

// Planting

std::uint64_t TableBench::home(const Bytes& key) const {
  return engine::home_slot(key, parts_->chunk.hash_key, options_.geometry.table_entries);
}

engine::Entry TableBench::entry(std::uint64_t slot) const { return watcher_->entries()[slot]; }

void TableBench::set_entry(std::uint64_t slot, Entry entry) {
  parts_->chunk.block->store(options_.geometry.entry_offset(slot), entry.word());
}

void TableBench::set_rival(RivalUpdater::Rival rival) {
  parts_->updater->set_rival(std::move(rival));
}

std::uint32_t TableBench::store_container(const Bytes& key) {
  Bytes bytes(engine::container_bytes(key.size(), 0));
  engine::write_container(key, {}, bytes);
  const auto offset = parts_->book.mature().allocate(bytes.size());
  parts_->chunk.write(offset, bytes);
  return options_.geometry.to_units(offset);
}

bool TableBench::insert(const Bytes& key) {
  const auto [known, is_new] = containers_.emplace(key, 0);
  if (is_new) known->second = store_container(key);
  for (std::uint64_t step = 0; step < options_.geometry.table_entries; ++step) {
    const std::uint64_t slot = (home(key) + step) % options_.geometry.table_entries;
    const bool is_here = entry(slot).reference() == known->second;
    if (!is_here && !entry(slot).is_empty()) continue;
    set_entry(slot, entry(slot).pointing_to(known->second).with_next_tag(30));
    return true;
  }
  return false;
}

void TableBench::remove(const Bytes& key) {
  const auto known = containers_.find(key);
  for (std::uint64_t slot = 0; slot < options_.geometry.table_entries; ++slot) {
    if (known != containers_.end() && entry(slot).reference() == known->second) {
      set_entry(slot, entry(slot).with_deleted());
    }
  }
}

std::optional<std::uint64_t> TableBench::first_empty() const {
  for (std::uint64_t slot = 0; slot < options_.geometry.table_entries; ++slot) {
    if (entry(slot).is_empty()) return slot;
  }
  return std::nullopt;
}

bool TableBench::plant_stand_in() {
  const auto slot = first_empty();
  if (slot) set_entry(*slot, parts_->chunk.stand_in_for(entry(*slot)));
  return slot.has_value();
}

bool TableBench::plant_unreadable() {
  const auto slot = first_empty();
  if (slot) plant_unreadable_at(*slot);
  return slot.has_value();
}

void TableBench::plant_unreadable_at(std::uint64_t slot) {
  const Bytes nothing(engine::container_header_bytes);
  const auto offset = parts_->book.mature().allocate(nothing.size());
  set_entry(slot, entry(slot).pointing_to(options_.geometry.to_units(offset)));
}

// Cleaning

bool TableBench::clean_for(std::uint64_t steps, std::uint64_t steps_to_break) {
  std::vector<Watcher::Key> keys;
  for (const Entry live : watcher_->entries()) {
    if (live.is_deleted()) continue;
    for (const auto& [key, units] : containers_) {
      if (units == live.reference()) keys.push_back({home(key), units});
    }
  }
  watcher_->watch(std::move(keys));
  bool is_through = false;
  const fabric::FiberId fiber = host_->spawn({.name = "cleanup"}, [&] {
    parts_->cleanup->finish();
    while (!parts_->cleanup->clean_piece()) host_->yield();
    is_through = true;
  });
  const std::uint64_t begin = simulation_->steps();
  bool is_broken = false;
  while (!is_through && simulation_->steps() - begin < steps) {
    host_->yield();
    if (is_broken || simulation_->steps() - begin < steps_to_break) continue;
    is_broken = true;
    simulation_->break_connection("server");
  }
  if (!is_through) host_->cancel(fiber);
  host_->join(fiber);
  return !is_through;
}

void TableBench::clean() { clean_for(never); }

std::uint64_t TableBench::deleted_entries() const {
  return static_cast<std::uint64_t>(std::ranges::count_if(watcher_->entries(), &Entry::is_deleted));
}

std::uint64_t TableBench::locked_entries() const { return watcher_->locked(); }

std::uint64_t TableBench::most_locked() const { return watcher_->most_locked(); }

void TableBench::require(bool condition, std::string problem) {
  watcher_->require(condition, std::move(problem));
}

}  // namespace falafel::engine_test
