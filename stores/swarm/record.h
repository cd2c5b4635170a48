// A value with what a reader needs to verify it: the word, a hash, and the content. Buffers hold
// one, and so does the place of a register for data in place. The hash covers the identity of the
// word and the content, but no timestamp, which may be chosen after the hash (the authors' code,
// layout.hpp). They use XXH3 with 128 bits; this one uses CRC-64 [reading of ours].
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "stores/swarm/word.h"

namespace falafel::swarm {

// A value, or its absence, as it lies in memory: the length plus one, or zero if the key is absent,
// then the value.
using Content = std::vector<std::byte>;

Content content_of(std::span<const std::byte> value);
Content absent_content();
// None if the content says that the key is absent.
std::optional<std::vector<std::byte>> value_in(const Content& content);

inline constexpr std::uint64_t record_header_bytes = 16;  // word and hash

// `content_bytes` is the length of all contents, to which this one is filled up with zeros.
std::vector<std::byte> encode(Word word, const Content& content, std::uint64_t content_bytes);
struct Record {
  Word word;
  std::uint64_t hash = 0;
  Content content;

  bool has_right_hash() const;
};
Record decode(std::span<const std::byte> bytes);

}  // namespace falafel::swarm
