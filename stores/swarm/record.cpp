#include "stores/swarm/record.h"

#include <algorithm>
#include <cstring>

#include "stores/crc64.h"

namespace falafel::swarm {
namespace {

constexpr std::size_t header_bytes = 8;

std::uint64_t hash_of(Word word, std::span<const std::byte> content) {
  std::vector<std::byte> bytes(sizeof(std::uint64_t) + content.size());
  const std::uint64_t identity = word.identity();
  std::memcpy(bytes.data(), &identity, sizeof identity);
  std::ranges::copy(content, bytes.begin() + sizeof identity);
  return stores::crc64(bytes);
}

}  // namespace

Content content_of(std::span<const std::byte> value) {
  Content content(header_bytes + value.size());
  const std::uint64_t header = value.size() + 1;
  std::memcpy(content.data(), &header, sizeof header);
  std::ranges::copy(value, content.begin() + header_bytes);
  return content;
}

Content absent_content() { return Content(header_bytes); }

std::optional<std::vector<std::byte>> value_in(const Content& content) {
  std::uint64_t header = 0;
  std::memcpy(&header, content.data(), sizeof header);
  if (header == 0) return std::nullopt;
  const std::uint64_t length = std::min<std::uint64_t>(header - 1, content.size() - header_bytes);
  const auto first = content.begin() + header_bytes;
  return std::vector<std::byte>(first, first + static_cast<std::ptrdiff_t>(length));
}

std::vector<std::byte> encode(Word word, const Content& content, std::uint64_t content_bytes) {
  std::vector<std::byte> bytes(record_header_bytes + content_bytes);
  std::ranges::copy(content, bytes.begin() + record_header_bytes);
  const std::uint64_t bits = word.bits();
  const std::uint64_t hash = hash_of(word, std::span(bytes).subspan(record_header_bytes));
  std::memcpy(bytes.data(), &bits, sizeof bits);
  std::memcpy(bytes.data() + sizeof bits, &hash, sizeof hash);
  return bytes;
}

bool Record::has_right_hash() const { return hash == hash_of(word, content); }

Record decode(std::span<const std::byte> bytes) {
  Record record;
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), sizeof bits);
  std::memcpy(&record.hash, bytes.data() + sizeof bits, sizeof record.hash);
  record.word = Word(bits);
  const auto content = bytes.subspan(record_header_bytes);
  record.content.assign(content.begin(), content.end());
  return record;
}

}  // namespace falafel::swarm
