// The condition of COMPARE-AND-SET.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>

namespace falafel::engine {

// The key has exactly these bytes as its value, or is absent (in a cache, also: has expired). The
// bytes must remain valid while the condition is in use.
class Condition {
 public:
  static Condition absent() { return Condition(std::nullopt); }
  static Condition equals(std::span<const std::byte> value) { return Condition(value); }

  bool permits_absence() const { return !value_; }
  bool permits(std::span<const std::byte> present) const {
    return value_ && std::ranges::equal(*value_, present);
  }

 private:
  explicit Condition(std::optional<std::span<const std::byte>> value) : value_(value) {}

  std::optional<std::span<const std::byte>> value_;
};

}  // namespace falafel::engine
