// Keys for the tests of clusters, enough of which belong to each server.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

namespace falafel::server_program {

inline std::vector<std::string> keys(int count) {
  std::vector<std::string> keys;
  keys.reserve(static_cast<std::size_t>(count));
  for (int key = 0; key < count; ++key) keys.push_back(fmt::format("key {}", key));
  return keys;
}

}  // namespace falafel::server_program
