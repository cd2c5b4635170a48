#include "stores/c_hint/layout.h"

#include <algorithm>
#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace falafel::c_hint {
namespace {

std::uint64_t word_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + offset, sizeof word);
  return word;
}

// The state is left out, because the server changes it alone.
std::uint64_t checksum_of(const stores::Checksum& checksum, std::span<const std::byte> item) {
  std::vector<std::byte> covered(item.begin(), item.end() - fabric::word_bytes);
  std::fill_n(covered.begin() + state_offset, fabric::word_bytes, std::byte{0});
  return checksum.of(covered);
}

std::uint64_t last_word_of(const Verifier& verifier, std::span<const std::byte> item) {
  return verifier.verification == Verification::checksum
             ? checksum_of(verifier.checksum, item)
             : word_at(item, offsetof(ItemHeader, version));
}

}  // namespace

std::uint64_t hash_of_key(std::span<const std::byte> key) {
  return XXH3_64bits(key.data(), key.size());
}

std::vector<std::byte> make_item(const Verifier& verifier, std::uint64_t version,
                                 std::span<const std::byte> key, std::span<const std::byte> value) {
  std::vector<std::byte> item(item_bytes_of(key.size(), value.size()));
  const ItemHeader header{.version = version,
                          .key_bytes = static_cast<std::uint32_t>(key.size()),
                          .value_bytes = static_cast<std::uint32_t>(value.size())};
  std::memcpy(item.data(), &header, sizeof header);
  std::byte* const after_key = std::copy_n(key.data(), key.size(), item.data() + sizeof header);
  std::copy_n(value.data(), value.size(), after_key);
  const std::uint64_t last_word = last_word_of(verifier, item);
  std::memcpy(item.data() + last_word_offset(item.size()), &last_word, sizeof last_word);
  return item;
}

std::optional<ItemView> parse_item(const Verifier& verifier, std::span<const std::byte> item) {
  ItemView view;
  if (item.size() < item_bytes_of(0, 0)) return std::nullopt;
  std::memcpy(&view.header, item.data(), sizeof view.header);
  const auto [version, key_bytes, value_bytes, state] = view.header;
  if (version % 2 != 0 || item.size() != item_bytes_of(key_bytes, value_bytes) ||
      word_at(item, last_word_offset(item.size())) != last_word_of(verifier, item)) {
    return std::nullopt;
  }
  view.key = item.subspan(item_header_bytes, key_bytes);
  view.value = item.subspan(item_header_bytes + std::uint64_t{key_bytes}, value_bytes);
  return view;
}

}  // namespace falafel::c_hint
