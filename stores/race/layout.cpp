#include "stores/race/layout.h"

#include <algorithm>
#include <cstring>

#include "stores/bytes.h"
#include "stores/crc64.h"

namespace falafel::race {
namespace {

std::uint64_t crc_of(std::span<const std::byte> block) {
  return stores::crc64(block.subspan(sizeof(BlockHeader::crc)));
}

}  // namespace

std::uint64_t block_bytes_of(std::uint64_t key_bytes, std::uint64_t value_bytes) {
  return stores::whole_words(sizeof(BlockHeader) + key_bytes + value_bytes);
}

Bytes make_block(std::span<const std::byte> key, std::span<const std::byte> value,
                 std::uint64_t tag) {
  Bytes block(block_bytes_of(key.size(), value.size()));
  BlockHeader header{.key_bytes = static_cast<std::uint32_t>(key.size()),
                     .value_bytes = static_cast<std::uint32_t>(value.size()),
                     .tag = tag};
  std::memcpy(block.data(), &header, sizeof header);
  std::byte* const after_key = std::copy_n(key.data(), key.size(), block.data() + sizeof header);
  std::copy_n(value.data(), value.size(), after_key);
  header.crc = crc_of(block);
  std::memcpy(block.data(), &header.crc, sizeof header.crc);
  return block;
}

std::optional<BlockView> parse_block(std::span<const std::byte> bytes) {
  const auto header = stores::from_bytes<BlockHeader>(bytes);
  if (!header) return std::nullopt;
  const std::uint64_t length = block_bytes_of(header->key_bytes, header->value_bytes);
  if (length > bytes.size()) return std::nullopt;
  return BlockView{.tag = header->tag,
                   .is_right = crc_of(bytes.first(length)) == header->crc,
                   .key = bytes.subspan(sizeof *header, header->key_bytes),
                   .value = bytes.subspan(sizeof *header + header->key_bytes, header->value_bytes)};
}

}  // namespace falafel::race
