#include "tools/server/memcached_front/stored_value.h"

#include <cstddef>

namespace falafel::memcached_front {
namespace {

constexpr std::size_t flags_bytes = sizeof(std::uint32_t);
constexpr std::size_t header_bytes = stored_value_magic.size() + flags_bytes;

}  // namespace

std::string_view encode(const FlaggedValue& value, std::string& buffer) {
  if (value.flags == 0 && !value.value.starts_with(stored_value_magic)) return value.value;
  buffer.clear();
  buffer.reserve(header_bytes + value.value.size());
  buffer += stored_value_magic;
  for (std::size_t byte = 0; byte < flags_bytes; ++byte) {
    buffer += static_cast<char>(value.flags >> (8 * byte) & 0xFFU);
  }
  buffer += value.value;
  return buffer;
}

FlaggedValue decode(std::string_view stored) {
  if (stored.size() < header_bytes || !stored.starts_with(stored_value_magic)) return {stored};
  std::uint32_t flags = 0;
  for (std::size_t byte = 0; byte < flags_bytes; ++byte) {
    const auto bits = static_cast<unsigned char>(stored[stored_value_magic.size() + byte]);
    flags |= static_cast<std::uint32_t>(bits) << (8 * byte);
  }
  return {.value = stored.substr(header_bytes), .flags = flags};
}

}  // namespace falafel::memcached_front
