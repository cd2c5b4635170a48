#include "tools/scenarios/race/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fabric/fabric.h"
#include "fabric/text.h"

namespace falafel::race_scenario {

// Blocks of one unit and of six: few lengths, so blocks are used again soon.
std::vector<std::byte> encode_value(const std::string& name) {
  constexpr std::array<std::size_t, 3> lengths_in_words{1, 3, longest_value_bytes / 8};
  std::string word = name;
  word.resize(fabric::word_bytes, ' ');
  std::string text;
  const std::size_t words =
      lengths_in_words[static_cast<std::size_t>(name.back()) % lengths_in_words.size()];
  for (std::size_t count = 0; count < words; ++count) text += word;
  return fabric::copied_bytes_of(text);
}

std::string decode_value(std::span<const std::byte> bytes) {
  std::string name = fabric::text_of(bytes.first(std::min<std::size_t>(bytes.size(), 8)));
  std::erase(name, ' ');
  if (!name.empty() && std::ranges::equal(encode_value(name), bytes)) return name;
  return fmt::format("{} bytes that nobody wrote", bytes.size());
}

}  // namespace falafel::race_scenario
