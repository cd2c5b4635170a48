// Values as bytes, for messages and for the private data of connections.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>

#include "fabric/fabric.h"

namespace falafel::stores {

template <typename Value>
std::span<const std::byte> bytes_of(const Value& value) {
  static_assert(std::has_unique_object_representations_v<Value>);
  return std::as_bytes(std::span(&value, 1));
}

// Nothing if there are too few bytes. There may be more, because a transport may pad.
template <typename Value>
std::optional<Value> from_bytes(std::span<const std::byte> bytes) {
  static_assert(std::has_unique_object_representations_v<Value>);
  if (bytes.size() < sizeof(Value)) return std::nullopt;
  Value value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

template <typename Value>
fabric::PrivateData to_private_data(const Value& value) {
  const auto bytes = bytes_of(value);
  return {bytes.begin(), bytes.end()};
}

// The length of a buffer for this number of bytes.
constexpr std::uint64_t whole_words(std::uint64_t bytes) {
  constexpr std::uint64_t word = fabric::word_bytes;
  return (bytes + word - 1) / word * word;
}

}  // namespace falafel::stores
