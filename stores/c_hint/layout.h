// The bytes of an item in the server's registered memory. README.md has them as a table.
//
// A client that READs an item recognizes by its version that it is not the one to which its pointer
// leads, and by the last word, which repeats the version or is a checksum, that it changed while it
// was read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "stores/bytes.h"
#include "stores/c_hint/options.h"
#include "stores/checksum.h"

namespace falafel::c_hint {

enum class ItemState : std::uint64_t { live = 1, deleted = 2 };

// Followed by the key, the value, zeros up to a multiple of a word, and the last word.
struct ItemHeader {
  std::uint64_t version = 0;  // odd while the item is being changed
  std::uint32_t key_bytes = 0;
  std::uint32_t value_bytes = 0;
  ItemState state = ItemState::live;
};
inline constexpr std::uint32_t item_header_bytes = 24;
inline constexpr std::uint32_t state_offset = 16;
static_assert(sizeof(ItemHeader) == item_header_bytes);
static_assert(offsetof(ItemHeader, version) == 0);
static_assert(offsetof(ItemHeader, key_bytes) == 8);
static_assert(offsetof(ItemHeader, value_bytes) == 12);
static_assert(offsetof(ItemHeader, state) == state_offset);

constexpr std::uint64_t item_bytes_of(std::uint64_t key_bytes, std::uint64_t value_bytes) {
  return item_header_bytes + stores::whole_words(key_bytes + value_bytes) + fabric::word_bytes;
}
constexpr std::uint64_t last_word_offset(std::uint64_t item_bytes) {
  return item_bytes - fabric::word_bytes;
}

std::uint64_t hash_of_key(std::span<const std::byte> key);

// The last word of items.
struct Verifier {
  Verification verification = Verification::versions;
  stores::Checksum checksum{};  // with Verification::checksum
};

// A live item. `version` is even.
std::vector<std::byte> make_item(const Verifier& verifier, std::uint64_t version,
                                 std::span<const std::byte> key, std::span<const std::byte> value);

struct ItemView {
  ItemHeader header;
  std::span<const std::byte> key;
  std::span<const std::byte> value;
};
// Nothing if the item does not verify, or the lengths do not fit: what was read may be anything.
std::optional<ItemView> parse_item(const Verifier& verifier, std::span<const std::byte> item);

}  // namespace falafel::c_hint
