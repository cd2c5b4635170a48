// A benchmark's requests: a stream of operations for each fiber, identical for every store that is
// measured. The mixes are those of YCSB's core workloads (Cooper et al. 2010) and that of the
// thesis (Behringer 5.4).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "fabric/random.h"
#include "tools/benchmarks/store/zipfian.h"

namespace falafel::store_benchmark {

enum class OperationKind : std::uint8_t { read, update, insert, read_modify_write, remove };
inline constexpr std::size_t operation_kind_count = 5;
std::string_view to_string(OperationKind kind);

enum class Distribution : std::uint8_t {
  uniform,      // over all keys
  zipfian,      // scrambled, over all keys
  latest,       // zipfian, the newest key first
  working_set,  // uniform, over the stream's own keys
  loop,         // the stream's own keys in turn
};
std::string_view to_string(Distribution distribution);

struct Workload {
  std::string_view name;
  std::array<std::uint32_t, operation_kind_count> percent{};  // by OperationKind
  Distribution distribution = Distribution::uniform;

  std::uint32_t percent_of(OperationKind kind) const {
    return percent[static_cast<std::size_t>(kind)];
  }
  bool inserts() const { return percent_of(OperationKind::insert) > 0; }
  // Returns whether a read may find that its key is not in the store.
  bool removes() const { return percent_of(OperationKind::remove) > 0; }
};

// Accepts thesis, ycsb-a, -b, -c, -d and -f; returns an error message otherwise. There is no ycsb-e
// because it scans ranges of keys, which a hash table does not support.
tl::expected<Workload, std::string> find_workload(std::string_view name);
std::optional<Distribution> find_distribution(std::string_view name);
// Turns `percent` % of the operations from updates into removals. Returns an error message if the
// workload has fewer updates.
std::optional<std::string> replace_updates_by_removals(Workload& workload, std::uint32_t percent);

struct WorkloadOperation {
  OperationKind kind = OperationKind::read;
  std::uint64_t key = 0;  // the number of the key
};

struct StreamPlace {
  std::uint64_t keys = 0;     // stored before the run; their numbers start at 0
  std::uint64_t streams = 1;  // number of streams of all clients
  std::uint64_t index = 0;    // number of this stream
  std::uint64_t seed = 1;
};

class OperationStream {
 public:
  OperationStream(const Workload& workload, const StreamPlace& place);

  // Returns nullopt when a workload with insertions has doubled the number of keys, over all
  // streams.
  std::optional<WorkloadOperation> next();

 private:
  OperationKind draw_kind();
  std::uint64_t draw_key();
  std::uint64_t inserted_key(std::uint64_t number) const;

  Workload workload_;
  StreamPlace place_;
  fabric::RandomGenerator random_;
  ScrambledZipfian scrambled_;
  std::optional<Zipfian> latest_;
  std::uint64_t inserted_ = 0;
  std::uint64_t position_ = 0;  // of the loop, in the stream's own keys
};

}  // namespace falafel::store_benchmark
