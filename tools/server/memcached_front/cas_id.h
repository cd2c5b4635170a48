// The CAS id of a value, by which `cas` recognizes whether the value has changed since `gets`.
//
// The store keeps no number of changes with a value. The id is a hash of the value with its flags,
// so a value that has changed and changed back has the same id as before.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/layout/key_hash.h"

namespace falafel::memcached_front {

// `stored`: the value as it is in the store (stored_value.h).
inline std::uint64_t cas_id_of(std::string_view stored) {
  return engine::hash_of(std::as_bytes(std::span(stored)), engine::HashKey{});
}

}  // namespace falafel::memcached_front
