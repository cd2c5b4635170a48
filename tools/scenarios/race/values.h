// Values of different lengths, from one word to more than a packet, that show whether what was read
// is what was written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace falafel::race_scenario {

inline constexpr std::uint32_t longest_value_bytes = 320;

// Different names, of at most a word, have different bytes in every word.
std::vector<std::byte> encode_value(const std::string& name);
// The name of the value, or a text about bytes that nobody wrote.
std::string decode_value(std::span<const std::byte> bytes);

}  // namespace falafel::race_scenario
