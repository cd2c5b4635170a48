#include "engine/client/cached_search.h"

#include <array>

#include "engine/client/examination.h"
#include "engine/layout/references.h"
#include "engine/probes.h"

namespace falafel::engine {
namespace {

// Returns nullopt unless the container has the key.
std::optional<FindResult> position_of(PendingOperation& operation, const HashedKey& key,
                                      std::uint64_t slot, Entry entry,
                                      const LoadedContainer& container) {
  const Examination examination = examine(operation, key.bytes, container);
  if (examination.result != Examined::has_key) return std::nullopt;
  return FindResult{.outcome = FindOutcome::occupied,
                    .slot = slot,
                    .entry = entry,
                    .header = examination.header,
                    .container = examination.container};
}

}  // namespace

CachedSearch::CachedSearch(PendingOperation& operation, const HashedKey& key)
    : cache_(operation.session().locations()), operation_(operation), key_(key) {
  if (!cache_.is_on()) return;
  begun_ns_ = operation.host().now_ns();
  location_ = cache_.find(key_.bytes, key_.hash, begun_ns_);
  if (location_) operation_.spend(fabric::Work::hash, key.bytes.size());
}

std::optional<FindResult> CachedSearch::read() {
  if (!location_) return std::nullopt;
  const Geometry& geometry = operation_.geometry();
  OperationBuffers& buffers = operation_.buffers();
  const auto container = buffers.container_of_length(
      geometry.to_offset(location_->entry.reference()), location_->container_bytes);
  if (!container) return std::nullopt;
  std::array chain{buffers.read_entry(location_->slot), buffers.read_container(*container)};
  if (!operation_.read(chain)) return std::nullopt;
  const Entry current = buffers.fetched_entry();
  if (current != location_->entry) return look_again(current);
  auto position = position_of(operation_, key_, location_->slot, current, *container);
  if (position) {
    on_hit();
  } else {
    forget();
  }
  return position;
}

std::optional<FindResult> CachedSearch::look_again(Entry current) {
  ++operation_.statistics().stale_locations;
  operation_.count(probes::location_stale);
  forget();
  if (current.is_empty() || current.is_locked()) return std::nullopt;
  const Geometry& geometry = operation_.geometry();
  if (!References(geometry).may_have_key(current, key_.hash)) return std::nullopt;
  if (!geometry.may_hold_container(geometry.to_offset(current.reference()))) return std::nullopt;
  OperationBuffers& buffers = operation_.buffers();
  const LoadedContainer container = buffers.container_of(current, 0);
  std::array chain{buffers.read_container(container)};
  if (!operation_.read(chain)) return std::nullopt;
  return position_of(operation_, key_, location_->slot, current, container);
}

void CachedSearch::on_hit() {
  ++operation_.statistics().cached_locations;
  operation_.count(probes::location_hit);
}

void CachedSearch::remember(std::uint64_t slot, Entry entry, std::uint64_t container_bytes) {
  if (!cache_.is_on()) return;
  cache_.remember(
      key_.bytes, key_.hash,
      {.slot = slot, .entry = entry, .container_bytes = container_bytes, .seen_ns = begun_ns_});
}

void CachedSearch::forget() {
  if (cache_.is_on()) cache_.forget(key_.bytes, key_.hash);
}

}  // namespace falafel::engine
