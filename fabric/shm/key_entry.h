// Changing an entry of the key table, and reading it while its owner changes it.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "fabric/shm/layout.h"

namespace falafel::shm {

struct KeyFields {
  std::uint64_t control = 0;
  std::uint64_t domain = 0;
  std::uint64_t block = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// For the owner, while `control` is 0. Each store also says that `control` was 0 before it.
inline void publish_key(KeyEntry& entry, const KeyFields& fields) {
  entry.domain.store(fields.domain, std::memory_order_release);
  entry.block.store(fields.block, std::memory_order_release);
  entry.begin.store(fields.begin, std::memory_order_release);
  entry.end.store(fields.end, std::memory_order_release);
  entry.control.store(fields.control, std::memory_order_release);
}

// The fields belong to the control word if it is the same before and after reading them. Empty if
// it is not, or if it is 0.
inline std::optional<KeyFields> sample_key(const KeyEntry& entry) {
  const std::uint64_t control = entry.control.load(std::memory_order_acquire);
  if (control == 0) return std::nullopt;
  const KeyFields fields{.control = control,
                         .domain = entry.domain.load(std::memory_order_acquire),
                         .block = entry.block.load(std::memory_order_acquire),
                         .begin = entry.begin.load(std::memory_order_acquire),
                         .end = entry.end.load(std::memory_order_acquire)};
  if (entry.control.load(std::memory_order_acquire) != control) return std::nullopt;
  return fields;
}

}  // namespace falafel::shm
