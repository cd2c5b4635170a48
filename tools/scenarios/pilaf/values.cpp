#include "tools/scenarios/pilaf/values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fabric/fabric.h"
#include "tools/scenarios/colliding_values.h"

namespace falafel::pilaf_scenario {
namespace {

constexpr std::array<std::size_t, 4> lengths_in_words{1, 3, 7, longest_value_bytes / 8};

std::vector<std::byte> padded(const std::string& name) {
  std::vector<std::byte> word(fabric::word_bytes, std::byte{' '});
  for (std::size_t index = 0; index < std::min(name.size(), word.size()); ++index) {
    word[index] = static_cast<std::byte>(name[index]);
  }
  return word;
}

}  // namespace

std::vector<std::byte> encode_value(const std::string& name, Values values) {
  const std::vector<std::byte> word = padded(name);
  std::size_t sum = 0;
  for (const char letter : name) sum += static_cast<std::size_t>(letter);
  std::size_t words = lengths_in_words[sum % lengths_in_words.size()];
  if (values == Values::colliding) {
    return scenarios::colliding_value(word, (words + 1) / 2, margin_bytes);
  }
  std::vector<std::byte> bytes;
  for (; words > 0; --words) {
    bytes.insert(bytes.end(), word.begin(), word.end());
  }
  return bytes;
}

std::string decode_value(std::span<const std::byte> bytes, Values values) {
  std::string name;
  const std::size_t margin = values == Values::colliding ? margin_bytes : 0;
  const std::size_t end = std::min<std::size_t>(bytes.size(), margin + fabric::word_bytes);
  for (std::size_t index = 0; index < end; ++index) {
    if (bytes[index] != std::byte{' '}) name.push_back(static_cast<char>(bytes[index]));
  }
  if (std::ranges::equal(encode_value(name, values), bytes)) return name;
  return fmt::format("{} bytes that nobody wrote", bytes.size());
}

}  // namespace falafel::pilaf_scenario
