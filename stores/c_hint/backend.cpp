#include "stores/c_hint/backend.h"

#include <utility>

namespace falafel::c_hint {

void MapBackend::wait(fabric::Host& host) const {
  if (latency_ns_ > 1) host.sleep_until(host.now_ns() + latency_ns_ / 2);
}

// The end if it is not there. A value whose life has ended is erased.
MapBackend::Values::iterator MapBackend::find(fabric::Host& host, std::span<const std::byte> key) {
  const auto found = values_.find({key.begin(), key.end()});
  if (found == values_.end() || host.wall_clock_ns() < found->second.life_end_ns) return found;
  values_.erase(found);
  return values_.end();
}

std::optional<BackendValue> MapBackend::get(fabric::Host& host, std::span<const std::byte> key) {
  wait(host);
  std::optional<BackendValue> value;
  if (const auto found = find(host, key); found != values_.end()) value = found->second;
  wait(host);
  return value;
}

void MapBackend::set(fabric::Host& host, std::span<const std::byte> key, BackendValue value) {
  wait(host);
  values_[{key.begin(), key.end()}] = std::move(value);
  wait(host);
}

bool MapBackend::remove(fabric::Host& host, std::span<const std::byte> key) {
  wait(host);
  const auto found = find(host, key);
  const bool was_there = found != values_.end();
  if (was_there) values_.erase(found);
  wait(host);
  return was_there;
}

}  // namespace falafel::c_hint
