#include "stores/c_hint/backend.h"

namespace falafel::c_hint {

void MapBackend::wait(fabric::Host& host) const {
  if (latency_ns_ > 1) host.sleep_until(host.now_ns() + latency_ns_ / 2);
}

std::optional<std::vector<std::byte>> MapBackend::get(fabric::Host& host,
                                                      std::span<const std::byte> key) {
  wait(host);
  std::optional<std::vector<std::byte>> value;
  const auto found = values_.find({key.begin(), key.end()});
  if (found != values_.end()) value = found->second;
  wait(host);
  return value;
}

void MapBackend::set(fabric::Host& host, std::span<const std::byte> key,
                     std::span<const std::byte> value) {
  wait(host);
  values_[{key.begin(), key.end()}].assign(value.begin(), value.end());
  wait(host);
}

bool MapBackend::remove(fabric::Host& host, std::span<const std::byte> key) {
  wait(host);
  const bool was_there = values_.erase({key.begin(), key.end()}) > 0;
  wait(host);
  return was_there;
}

}  // namespace falafel::c_hint
