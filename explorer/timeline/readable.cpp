#include "explorer/timeline/readable.h"

#include <fmt/format.h>

#include <cstdint>

#include "checkers/utf8.h"

namespace falafel::timeline {
namespace {

// The length of the character that begins there, according to its first byte.
std::size_t character_bytes(std::string_view bytes) {
  const auto first = static_cast<unsigned char>(bytes.front());
  if (first < 0xc0) return 1;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

// Excludes control characters and characters that change the display of the surrounding text:
// directions, joiners, and invisible characters. All of them lie in U+0080..U+009F, U+200B..U+200F,
// U+2028..U+202F, U+2060..U+206F, U+FE00..U+FEFF, U+FFF0..U+FFFF, or far beyond the usual scripts.
bool is_plain(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  if (character.size() == 1) return first >= 0x20 && first < 0x7f && first != '\\';
  const auto second = static_cast<unsigned char>(character[1]);
  if (first == 0xc2) return second >= 0xa1 && second != 0xad;
  if (first == 0xe2) return second != 0x80 && second != 0x81;
  if (first == 0xef) return second < 0xb8;
  return first < 0xf0;
}

}  // namespace

std::string readable(std::string_view bytes, std::size_t longest_bytes) {
  std::string text;
  std::string_view rest = bytes.substr(0, longest_bytes);
  while (!rest.empty()) {
    std::string_view character = rest.substr(0, character_bytes(rest));
    const bool is_valid = !checkers::find_invalid_utf8(character);
    if (!is_valid) character = rest.substr(0, 1);
    if (is_valid && is_plain(character)) {
      text += character;
    } else if (character == "\\") {
      text += "\\\\";
    } else {
      for (const char byte : character) {
        text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
      }
    }
    rest.remove_prefix(character.size());
  }
  if (bytes.size() > longest_bytes) {
    text += fmt::format("… ({} bytes)", bytes.size());
  }
  return text;
}

}  // namespace falafel::timeline
