// Changes that depend on the value that a key has: add, replace, append, prepend, cas, incr, decr
// and touch, also as a part of get.
//
// A change reads the value, decides what to store, and stores it by compare-and-set. If another
// client has changed the value in between, it begins anew: that client has made progress.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "engine/client/results.h"
#include "tools/server/memcached_front/request.h"
#include "tools/server/memcached_front/statistics.h"
#include "tools/server/memcached_front/storage.h"

namespace falafel::memcached_front {

enum class ChangeResult : std::uint8_t {
  stored,
  not_stored,   // the mode does not permit it: the key is there, or is absent
  exists,       // the value has another CAS id
  not_found,    // a request that needs a value, and the key is absent
  not_numeric,  // the value is no number of 64 bits
  refused,      // by the store; see `answer`
};

struct Change {
  ChangeResult result = ChangeResult::refused;
  engine::Answer answer{};  // refused
  std::string value{};      // stored: with its header, if any (stored_value.h)
};

// These wait for the store.
Change store_value(Storage& storage, const Request& request);
Change add_to_number(Storage& storage, const Request& request);
// The value, which stays the same, expires as the request's exptime says.
Change touch(Storage& storage, const Request& request);

// A get. If the request has an exptime, the value expires then. Calls `use` if the key is found.
engine::Answer look_up(Storage& storage, Statistics& statistics, const Request& request,
                       const std::function<void(const StoredValue&)>& use);

}  // namespace falafel::memcached_front
