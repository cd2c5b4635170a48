// Keys and values of tests as text.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "stores/nessie/layout.h"

namespace falafel::nessie_test {

inline nessie::Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace falafel::nessie_test
