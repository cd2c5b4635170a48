#include "checkers/utf8.h"

#include <cstdint>

namespace falafel::checkers {

namespace {

// The length of the character that starts with these bytes; 0: invalid.
std::size_t character_bytes(std::string_view bytes) {
  const auto lead = static_cast<unsigned char>(bytes[0]);
  if (lead < 0x80U) return 1;
  const std::size_t length = lead >= 0xf0U ? 4 : lead >= 0xe0U ? 3 : 2;
  if (lead < 0xc2U || lead > 0xf4U || bytes.size() < length) return 0;
  std::uint32_t character = lead & (0x7fU >> length);
  for (const char next : bytes.substr(1, length - 1)) {
    const auto byte = static_cast<unsigned char>(next);
    if ((byte & 0xc0U) != 0x80U) return 0;
    character = character << 6U | (byte & 0x3fU);
  }
  const bool is_surrogate = character >= 0xd800U && character <= 0xdfffU;
  const bool is_too_long =
      (length == 3 && character < 0x800U) || (length == 4 && character < 0x10000U);
  return is_surrogate || is_too_long || character > 0x10ffffU ? 0 : length;
}

}  // namespace

std::optional<std::size_t> find_invalid_utf8(std::string_view bytes) {
  std::size_t position = 0;
  while (position < bytes.size()) {
    const std::size_t length = character_bytes(bytes.substr(position));
    if (length == 0) return position;
    position += length;
  }
  return std::nullopt;
}

void append_utf8(std::string& text, char32_t character) {
  const auto byte = [](char32_t bits) { return static_cast<char>(bits); };
  if (character < 0x80U) {
    text += byte(character);
  } else if (character < 0x800U) {
    text += {byte(0xc0U | character >> 6U), byte(0x80U | (character & 0x3fU))};
  } else if (character < 0x10000U) {
    text += {byte(0xe0U | character >> 12U), byte(0x80U | (character >> 6U & 0x3fU)),
             byte(0x80U | (character & 0x3fU))};
  } else {
    text += {byte(0xf0U | character >> 18U), byte(0x80U | (character >> 12U & 0x3fU)),
             byte(0x80U | (character >> 6U & 0x3fU)), byte(0x80U | (character & 0x3fU))};
  }
}

}  // namespace falafel::checkers
