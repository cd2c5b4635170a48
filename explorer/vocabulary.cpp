#include "explorer/vocabulary.h"

#include <fmt/format.h>

#include <cstring>

namespace falafel::explorer {

std::string PlainVocabulary::host(std::uint32_t number) const {
  return fmt::format("host {}", number);
}

std::string PlainVocabulary::place(std::uint64_t offset) const {
  return fmt::format("byte {}", offset);
}

std::string PlainVocabulary::word(std::uint64_t word) const {
  constexpr std::uint64_t most_decimal = 1'000'000;
  return word < most_decimal ? fmt::format("{}", word) : fmt::format("{:#x}", word);
}

std::string PlainVocabulary::data(std::uint64_t offset, std::span<const std::byte> data) const {
  constexpr std::size_t most_words = 8;
  constexpr std::size_t word_bytes = sizeof(std::uint64_t);
  const bool are_words = data.size() % word_bytes == 0 && data.size() <= most_words * word_bytes;
  if (!are_words) return fmt::format("{} bytes at {}", data.size(), place(offset));
  std::string text;
  for (std::size_t position = 0; position < data.size(); position += word_bytes) {
    std::uint64_t value = 0;
    std::memcpy(&value, data.data() + position, word_bytes);
    text +=
        fmt::format("{}{}: {}", position == 0 ? "" : "; ", place(offset + position), word(value));
  }
  return text;
}

}  // namespace falafel::explorer
