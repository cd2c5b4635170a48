// Values of different lengths, from one word to more than a packet, that show whether what was read
// is what was written. An adversary's collide: tools/scenarios/colliding_values.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace falafel::pilaf_scenario {

inline constexpr std::uint32_t longest_value_bytes = 320;
// In front of the pairs of words, so that they begin at a word behind a key of one byte. A value is
// longer by that, and the longest one still fits a request.
inline constexpr std::uint32_t margin_bytes = 7;

enum class Values : std::uint8_t { equal_words, colliding };

// The bytes of the value of that name. Different names have different bytes in every
// word of them.
std::vector<std::byte> encode_value(const std::string& name, Values values);
// The name of the value, or a text about bytes that nobody wrote.
std::string decode_value(std::span<const std::byte> bytes, Values values);

}  // namespace falafel::pilaf_scenario
