// Parts of the JSON form of a timeline: values, texts by number, and records in columns.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "explorer/timeline/timeline.h"

namespace falafel::timeline {

inline nlohmann::ordered_json word_to_json(std::uint64_t value) {
  return fmt::format("{:016x}", value);
}
inline nlohmann::ordered_json step_to_json(std::uint64_t value) {
  return value == never ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
}
inline nlohmann::ordered_json number_to_json(std::uint32_t value) {
  return value == none ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
}

// Assigns numbers to texts.
class Texts {
 public:
  nlohmann::ordered_json operator()(std::string_view text) {
    const auto [found, is_new] = numbers_.try_emplace(std::string(text), list_.size());
    if (is_new) list_.push_back(found->first);
    return found->second;
  }
  nlohmann::ordered_json take() { return std::move(list_); }

 private:
  std::map<std::string, std::size_t> numbers_;
  nlohmann::ordered_json list_ = nlohmann::ordered_json::array();
};

// An array for each field of many records.
class Columns {
 public:
  template <typename Records, typename Function>
  Columns& add(const char* name, const Records& records, Function function) {
    nlohmann::ordered_json column = nlohmann::ordered_json::array();
    for (const auto& record : records) column.push_back(function(record));
    columns_[name] = std::move(column);
    return *this;
  }
  nlohmann::ordered_json take() { return std::move(columns_); }

 private:
  nlohmann::ordered_json columns_ = nlohmann::ordered_json::object();
};

}  // namespace falafel::timeline
