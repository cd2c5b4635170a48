// A store for tests of the front.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "tools/server/memcached_front/storage.h"

namespace falafel::memcached_front {

class MapStorage final : public Storage {
 public:
  engine::Answer get(std::string_view key,
                     const std::function<void(const StoredValue&)>& use) override {
    if (failure) return *failure;
    const auto found = values.find(key);
    if (found == values.end()) return engine::Answer::not_found;
    use({.bytes = found->second});
    return engine::Answer::found;
  }
  engine::Answer set(std::string_view key, std::string_view value, std::int64_t exptime) override {
    if (failure) return *failure;
    values.insert_or_assign(std::string(key), std::string(value));
    exptimes.insert_or_assign(std::string(key), exptime);
    return engine::Answer::stored;
  }
  engine::Answer compare_and_set(std::string_view key, const engine::Condition& condition,
                                 std::string_view value,
                                 std::optional<std::int64_t> exptime) override {
    if (interfere) std::exchange(interfere, nullptr)();
    if (failure) return *failure;
    const auto found = values.find(key);
    const bool holds = found == values.end()
                           ? condition.permits_absence()
                           : condition.permits(std::as_bytes(std::span(found->second)));
    if (!holds) return engine::Answer::differs;
    values.insert_or_assign(std::string(key), std::string(value));
    if (exptime) exptimes.insert_or_assign(std::string(key), *exptime);
    return engine::Answer::stored;
  }
  engine::Answer remove(std::string_view key) override {
    if (failure) return *failure;
    const auto found = values.find(key);
    if (found == values.end()) return engine::Answer::not_found;
    values.erase(found);
    return engine::Answer::deleted;
  }
  std::optional<engine::Answer> for_each_key(
      const std::function<void(std::string_view, const StoredValue&)>& visit) override {
    if (failure) return *failure;
    const auto all = values;
    for (const auto& [key, value] : all) visit(key, {.bytes = value});
    return std::nullopt;
  }

  std::map<std::string, std::string, std::less<>> values;
  std::map<std::string, std::int64_t, std::less<>> exptimes;  // of the last request that had one
  std::optional<engine::Answer> failure;                      // of all operations
  std::function<void()> interfere;  // called once, before the next compare_and_set
};

}  // namespace falafel::memcached_front
