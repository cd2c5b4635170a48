// Carries entries from a running store to a dump, and from a dump to a running store.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "engine/client/results.h"
#include "falafel/store.h"
#include "tools/command_line/dump/dump_file.h"

namespace falafel::dump {

// Is called with the number of entries so far, once in a while.
using Progress = std::function<void(std::uint64_t entries)>;

struct DumpFailure {
  bool is_of_file = false;  // the file cannot be written; otherwise `answer` is that of the scan
  engine::Answer answer = engine::Answer::disconnected;
};

// Adds the entries of the store to the dump. If the scan answers `corrupted`, all entries but the
// damaged ones were added.
tl::expected<void, DumpFailure> dump_store(Store& store, Writer& writer, const Progress& progress);

// The store that a dump is loaded into: one server, or a cluster.
struct Destination {
  using KeyAndValue = Store::KeyAndValue;
  std::function<std::vector<engine::GetResult>(std::span<const std::string_view>)> get_many;
  std::function<std::vector<engine::SetResult>(std::span<const KeyAndValue>, std::uint64_t)>
      set_many;
};

template <typename StoreOrCluster>
Destination destination_of(StoreOrCluster& store) {
  return {.get_many = [&store](auto keys) { return store.get_many(keys); },
          .set_many = [&store](
                          auto pairs,
                          auto time_to_live_ns) { return store.set_many(pairs, time_to_live_ns); }};
}

struct LoadCounts {
  std::uint64_t loaded = 0;
  std::uint64_t kept = 0;  // the store had the key
  // These did not fit.
  std::uint64_t table_full = 0;
  std::uint64_t store_full = 0;
  std::uint64_t too_large = 0;

  std::uint64_t not_fitting() const { return table_full + store_full + too_large; }
};

struct LoadFailure {
  std::string problem_of_file;  // empty: the store gave `answer`
  engine::Answer answer = engine::Answer::disconnected;
};

// Sets the entries of the dump in the store. Stops at the first failure, after the entries in
// front of it were set.
class Load {
 public:
  // `keeps_existing`: leaves keys alone that the store has. A program that stores the same key at
  // the same time may lose its value.
  Load(Destination destination, bool keeps_existing, Progress progress)
      : destination_(std::move(destination)),
        keeps_existing_(keeps_existing),
        progress_(std::move(progress)) {}

  std::optional<LoadFailure> run(Reader& reader);
  const LoadCounts& counts() const { return counts_; }

 private:
  bool fits_batch(const Entry& entry) const;
  std::optional<LoadFailure> store_batch();
  std::optional<LoadFailure> drop_existing();
  std::optional<LoadFailure> count(engine::Answer answer);

  Destination destination_;
  bool keeps_existing_;
  Progress progress_;
  LoadCounts counts_;
  std::vector<Entry> batch_;  // all with the same time to live
  std::uint64_t batch_bytes_ = 0;
};

}  // namespace falafel::dump
