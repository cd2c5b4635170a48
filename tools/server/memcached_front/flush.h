// flush_all: deletes one key after the other. A value that another client stores meanwhile may stay
// or not.
#pragma once

#include <optional>

#include "engine/client/results.h"
#include "tools/server/memcached_front/storage.h"

namespace falafel::memcached_front {

struct Flush {
  std::optional<engine::Answer> failed{};  // not all keys are deleted
  bool has_removed = false;
};

// Waits for the store.
inline Flush flush_all(Storage& storage) {
  using engine::Answer;
  Flush flush;
  const auto scanned = storage.for_each_key([&](std::string_view key, const StoredValue&) {
    const Answer answer = storage.remove(key);
    if (answer == Answer::deleted) flush.has_removed = true;
    if (answer != Answer::deleted && answer != Answer::not_found) flush.failed = answer;
  });
  if (scanned) flush.failed = scanned;
  return flush;
}

}  // namespace falafel::memcached_front
