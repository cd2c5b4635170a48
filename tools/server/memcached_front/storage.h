// The operations that the front needs of the store. Tests replace it by a map.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "engine/client/results.h"

namespace falafel::memcached_front {

class Storage {
 public:
  virtual ~Storage() = default;
  // Calls `use` once if the answer is `found`.
  virtual engine::Answer get(std::string_view key,
                             const std::function<void(std::string_view value)>& use) = 0;
  // `exptime` is that of the request (expiry.h).
  virtual engine::Answer set(std::string_view key, std::string_view value,
                             std::int64_t exptime) = 0;
  virtual engine::Answer remove(std::string_view key) = 0;
};

}  // namespace falafel::memcached_front
