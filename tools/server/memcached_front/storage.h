// The operations that the front needs of the store. Tests replace it by a map.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "engine/client/condition.h"
#include "engine/client/results.h"

namespace falafel::memcached_front {

// A value of the store, and when it expires in nanoseconds since 1970; 0: never.
struct StoredValue {
  std::string_view bytes;
  std::uint64_t expires_ns = 0;
};

class Storage {
 public:
  virtual ~Storage() = default;
  // Calls `use` once if the answer is `found`.
  virtual engine::Answer get(std::string_view key,
                             const std::function<void(const StoredValue& value)>& use) = 0;
  // `exptime` is that of the request (expiry.h).
  virtual engine::Answer set(std::string_view key, std::string_view value,
                             std::int64_t exptime) = 0;
  // Stores the value if the key meets the condition, and answers `differs` otherwise. Without an
  // exptime, the value expires when the present one would have.
  virtual engine::Answer compare_and_set(std::string_view key, const engine::Condition& condition,
                                         std::string_view value,
                                         std::optional<std::int64_t> exptime) = 0;
  virtual engine::Answer remove(std::string_view key) = 0;
  // Calls `visit` for each key; it may use the storage. Returns the error, if any.
  virtual std::optional<engine::Answer> for_each_key(
      const std::function<void(std::string_view key, const StoredValue& value)>& visit) = 0;
};

}  // namespace falafel::memcached_front
