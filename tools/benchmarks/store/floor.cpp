#include "tools/benchmarks/store/floor.h"

#include <cstring>
#include <span>
#include <vector>

#include "engine/layout/container.h"
#include "engine/layout/key_hash.h"
#include "fabric/realtime/clock.h"
#include "falafel/fabric_choice.h"
#include "tools/benchmarks/store/operation_clock.h"
#include "tools/benchmarks/store/parties.h"
#include "tools/benchmarks/store/record.h"

namespace falafel::store_benchmark {
namespace {

// Prevents the compiler from removing a copy that nobody reads.
void use(std::span<const std::byte> bytes) { asm volatile("" : : "r"(bytes.data()) : "memory"); }

// A table of offsets, followed by containers. If several keys have the same slot, it points to the
// last one, so every look-up finds a container.
class BareTable {
 public:
  BareTable(const BenchmarkOptions& options, std::span<std::byte> memory)
      : geometry_(geometry_for(options)),
        container_bytes_(container_size_bytes(options)),
        memory_(memory),
        value_(options.value_bytes) {}

  void store(std::uint64_t number, std::span<const std::byte> key) {
    write_value(number, 0, value_);
    const std::uint64_t offset = geometry_.region_offset(0) + number * container_bytes_;
    engine::write_container(key, value_, memory_.subspan(offset, container_bytes_));
    std::memcpy(&memory_[slot_offset(key)], &offset, sizeof offset);
  }

  void copy(std::span<const std::byte> key, std::span<std::byte> destination) const {
    std::uint64_t offset = 0;
    std::memcpy(&offset, &memory_[slot_offset(key)], sizeof offset);
    std::memcpy(destination.data(), &memory_[offset], container_bytes_);
    use(destination);
  }

 private:
  std::uint64_t slot_offset(std::span<const std::byte> key) const {
    return geometry_.entry_offset(engine::home_slot(key, hash_key_, geometry_.table_entries));
  }

  engine::Geometry geometry_;
  engine::HashKey hash_key_{};
  std::uint64_t container_bytes_;
  std::span<std::byte> memory_;
  std::vector<std::byte> value_;
};

double fill(BareTable& table, const BenchmarkOptions& options) {
  const std::uint64_t begin_ns = fabric::monotonic_ns();
  std::vector<std::byte> key(options.key_bytes);
  for (std::uint64_t number = 0; number < options.keys; ++number) {
    write_key(number, key);
    table.store(number, key);
  }
  return static_cast<double>(fabric::monotonic_ns() - begin_ns) / 1e9;
}

void measure(const BareTable& table, const BenchmarkOptions& options, BenchmarkResult& result) {
  constexpr int operations_per_look_at_the_clock = 1'000;
  Workload reads = options.workload;
  reads.percent = {100, 0, 0, 0};
  OperationStream stream(reads, {.keys = options.keys, .seed = options.seed});
  const OperationClock clock = OperationClock::of_processor();
  std::vector<std::byte> key(options.key_bytes);
  std::vector<std::byte> copy(container_size_bytes(options));
  const std::uint64_t begin_ns = fabric::monotonic_ns();
  const auto end_ns = begin_ns + static_cast<std::uint64_t>(options.seconds * 1e9);
  while (fabric::monotonic_ns() < end_ns) {
    for (int operation = 0; operation < operations_per_look_at_the_clock; ++operation) {
      write_key(stream.next()->key, key);
      const std::uint64_t begin_ticks = clock.now_ticks();
      table.copy(key, copy);
      result.all_latencies.record(clock.to_ns(begin_ticks, clock.now_ticks()));
    }
  }
  result.run_seconds = static_cast<double>(fabric::monotonic_ns() - begin_ns) / 1e9;
  result.latencies[static_cast<std::size_t>(OperationKind::read)] = result.all_latencies;
  result.operations_per_second =
      static_cast<double>(result.all_latencies.count()) / result.run_seconds;
}

}  // namespace

tl::expected<BenchmarkResult, std::string> measure_floor(const BenchmarkOptions& options,
                                                         bool huge_pages) {
  const TemporaryDirectory directory;
  const std::uint64_t size_bytes =
      geometry_for(options).region_offset(0) + options.keys * container_size_bytes(options);
  auto fabric = open_fabric({.directory = directory.path(), .huge_pages = huge_pages});
  if (!fabric) return tl::unexpected(fabric.error().detail);
  auto host = (*fabric)->create_host("floor");
  if (!host) return tl::unexpected(host.error().detail);
  auto memory = (*host)->allocate_memory(size_bytes);
  if (!memory) return tl::unexpected(memory.error().detail);
  BareTable table(options, (*memory)->bytes());
  BenchmarkResult result;
  result.fabric = "bare memory (the floor: one thread, hash and copy)";
  result.clock = "the processor's time stamp counter, around every operation";
  result.load_seconds = fill(table, options);
  measure(table, options, result);
  const auto container = static_cast<double>(container_size_bytes(options));
  const double total = static_cast<double>(size_bytes) / static_cast<double>(options.keys);
  result.memory = {
      .table_bytes = total - container, .container_bytes = container, .total_bytes = total};
  return result;
}

}  // namespace falafel::store_benchmark
