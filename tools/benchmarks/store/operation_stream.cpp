#include "tools/benchmarks/store/operation_stream.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/assert.h"

namespace falafel::store_benchmark {
namespace {

// Percentages of reads, updates, insertions and read-modify-writes. None removes keys.
constexpr std::array<Workload, 6> workloads{{
    {"thesis", {50, 50, 0, 0}, Distribution::loop},
    {"ycsb-a", {50, 50, 0, 0}, Distribution::zipfian},
    {"ycsb-b", {95, 5, 0, 0}, Distribution::zipfian},
    {"ycsb-c", {100, 0, 0, 0}, Distribution::zipfian},
    {"ycsb-d", {95, 0, 5, 0}, Distribution::latest},
    {"ycsb-f", {50, 0, 0, 50}, Distribution::zipfian},
}};

constexpr std::array distributions{Distribution::uniform, Distribution::zipfian,
                                   Distribution::latest, Distribution::working_set,
                                   Distribution::loop};

}  // namespace

std::string_view to_string(OperationKind kind) {
  switch (kind) {
    case OperationKind::read: return "read";
    case OperationKind::update: return "update";
    case OperationKind::insert: return "insert";
    case OperationKind::read_modify_write: return "read-modify-write";
    case OperationKind::remove: return "delete";
  }
  return "?";
}

std::string_view to_string(Distribution distribution) {
  switch (distribution) {
    case Distribution::uniform: return "uniform";
    case Distribution::zipfian: return "zipfian";
    case Distribution::latest: return "latest";
    case Distribution::working_set: return "working-set";
    case Distribution::loop: return "loop";
  }
  return "?";
}

tl::expected<Workload, std::string> find_workload(std::string_view name) {
  const auto* const found = std::ranges::find(workloads, name, &Workload::name);
  if (found != workloads.end()) return *found;
  if (name == "ycsb-e") {
    return tl::unexpected<std::string>(
        "ycsb-e scans ranges of keys, which a hash table does not support; choose another "
        "workload");
  }
  std::string names;
  for (const Workload& workload : workloads) names += fmt::format(" {}", workload.name);
  return tl::unexpected(fmt::format("unknown workload '{}'; choose one of{}", name, names));
}

std::optional<Distribution> find_distribution(std::string_view name) {
  for (const Distribution distribution : distributions) {
    if (to_string(distribution) == name) return distribution;
  }
  return std::nullopt;
}

std::optional<std::string> replace_updates_by_removals(Workload& workload, std::uint32_t percent) {
  const std::uint32_t updates = workload.percent_of(OperationKind::update);
  if (percent > updates) {
    return fmt::format("--deletes is {} but must be at most {}, the percentage of updates", percent,
                       updates);
  }
  workload.percent[static_cast<std::size_t>(OperationKind::update)] -= percent;
  workload.percent[static_cast<std::size_t>(OperationKind::remove)] += percent;
  return std::nullopt;
}

OperationStream::OperationStream(const Workload& workload, const StreamPlace& place)
    : workload_(workload),
      place_(place),
      random_(place.seed * 1'000'003 + place.index),
      scrambled_(place.keys) {
  FALAFEL_ASSERT(place.keys >= place.streams && place.index < place.streams,
                 "{} keys, stream {} of {}", place.keys, place.index, place.streams);
  if (workload.distribution == Distribution::latest) latest_.emplace(place.keys);
}

std::optional<WorkloadOperation> OperationStream::next() {
  const OperationKind kind = draw_kind();
  if (kind != OperationKind::insert) return WorkloadOperation{.kind = kind, .key = draw_key()};
  if (inserted_ == place_.keys / place_.streams) return std::nullopt;
  if (latest_) latest_->add_item();
  return WorkloadOperation{.kind = kind, .key = inserted_key(inserted_++)};
}

OperationKind OperationStream::draw_kind() {
  std::uint64_t percent = random_.below(100);
  std::size_t kind = 0;
  while (percent >= workload_.percent[kind]) percent -= workload_.percent[kind++];
  return static_cast<OperationKind>(kind);
}

std::uint64_t OperationStream::draw_key() {
  switch (workload_.distribution) {
    case Distribution::uniform: return random_.below(place_.keys);
    case Distribution::zipfian: return scrambled_.next(random_);
    case Distribution::working_set:
      return random_.below(place_.keys / place_.streams) * place_.streams + place_.index;
    case Distribution::loop: {
      const std::uint64_t key = position_ * place_.streams + place_.index;
      position_ = (position_ + 1) % (place_.keys / place_.streams);
      return key;
    }
    case Distribution::latest: break;
  }
  // Only this stream's own new keys qualify, because keys of other streams may not be stored yet.
  const std::uint64_t age = latest_->next(random_);
  return age < inserted_ ? inserted_key(inserted_ - 1 - age) : place_.keys - 1 - (age - inserted_);
}

std::uint64_t OperationStream::inserted_key(std::uint64_t number) const {
  return place_.keys + number * place_.streams + place_.index;
}

}  // namespace falafel::store_benchmark
