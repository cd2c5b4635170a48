// Values of a history as a user's specification sees them (checkers/specification_library.h).
#pragma once

#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkers/specification_library.h"

namespace falafel::checkers::formats {

// Owns a value and all that it consists of.
class LoadedValue {
 public:
  explicit LoadedValue(const nlohmann::json& value) : root_(convert(value, nullptr)) {}
  LoadedValue(const LoadedValue&) = delete;
  LoadedValue& operator=(const LoadedValue&) = delete;

  const falafel_value& root() const { return root_; }
  std::string_view text() const { return {root_.json, root_.json_bytes}; }

 private:
  falafel_value convert(const nlohmann::json& value, const char* name);
  void convert_elements(const nlohmann::json& value, falafel_value& converted);
  const std::string& keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  std::deque<std::string> texts_;
  std::deque<std::vector<falafel_value>> elements_;
  falafel_value root_;
};

}  // namespace falafel::checkers::formats
