// A store for tests of the front.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "tools/server/memcached_front/storage.h"

namespace falafel::memcached_front {

class MapStorage final : public Storage {
 public:
  engine::Answer get(std::string_view key,
                     const std::function<void(std::string_view)>& use) override {
    if (failure) return *failure;
    const auto found = values.find(key);
    if (found == values.end()) return engine::Answer::not_found;
    use(found->second);
    return engine::Answer::found;
  }
  engine::Answer set(std::string_view key, std::string_view value,
                     std::int64_t /*exptime*/) override {
    if (failure) return *failure;
    values.insert_or_assign(std::string(key), std::string(value));
    return engine::Answer::stored;
  }
  engine::Answer remove(std::string_view key) override {
    if (failure) return *failure;
    const auto found = values.find(key);
    if (found == values.end()) return engine::Answer::not_found;
    values.erase(found);
    return engine::Answer::deleted;
  }

  std::map<std::string, std::string, std::less<>> values;
  std::optional<engine::Answer> failure;  // of all operations
};

}  // namespace falafel::memcached_front
