#include "stores/nessie/layout.h"

#include <cstring>

#include "stores/bytes.h"

namespace falafel::nessie {

std::string describe(std::uint64_t word) {
  const IndexEntry entry = decode(word);
  const std::string place =
      "node " + std::to_string(entry.data_table) + ", entry " + std::to_string(entry.data_entry);
  if (word == empty_word) return "empty";
  if (!has_watermark(word)) return "no ITE: " + std::to_string(word);
  if (entry.is_empty) return "empty, before: " + place;
  return place + ", filter " + std::to_string(entry.filter);
}

DataEntryLayout::DataEntryLayout(std::uint64_t most_key_bytes, std::uint64_t most_value_bytes)
    : most_key_bytes_(most_key_bytes),
      most_value_bytes_(most_value_bytes),
      value_offset_(sizeof(DataEntryHeader) + stores::whole_words(most_key_bytes)),
      watermark_offset_(value_offset_ + stores::whole_words(most_value_bytes)) {}

Bytes DataEntryLayout::encode(const DataEntry& entry) const {
  FALAFEL_ASSERT(entry.key.size() <= most_key_bytes_ && entry.value.size() <= most_value_bytes_,
                 "a key of {} bytes and a value of {} bytes do not fit an entry for {} and {}",
                 entry.key.size(), entry.value.size(), most_key_bytes_, most_value_bytes_);
  Bytes bytes(entry_bytes());
  DataEntryHeader header = entry.header;
  header.key_bytes = static_cast<std::uint32_t>(entry.key.size());
  header.value_bytes = static_cast<std::uint32_t>(entry.value.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!entry.key.empty()) {
    std::memcpy(bytes.data() + key_offset(), entry.key.data(), entry.key.size());
  }
  if (!entry.value.empty()) {
    std::memcpy(bytes.data() + value_offset(), entry.value.data(), entry.value.size());
  }
  bytes[watermark_offset()] = std::byte{1};
  return bytes;
}

std::optional<DataEntry> DataEntryLayout::decode(std::span<const std::byte> bytes) const {
  DataEntry entry;
  if (bytes.size() < front_bytes()) return std::nullopt;
  std::memcpy(&entry.header, bytes.data(), sizeof entry.header);
  if (entry.header.key_bytes > most_key_bytes_ || entry.header.value_bytes > most_value_bytes_) {
    return std::nullopt;
  }
  const auto key = bytes.subspan(key_offset(), entry.header.key_bytes);
  entry.key.assign(key.begin(), key.end());
  if (bytes.size() >= entry_bytes()) {
    const auto value = bytes.subspan(value_offset(), entry.header.value_bytes);
    entry.value.assign(value.begin(), value.end());
  }
  return entry;
}

}  // namespace falafel::nessie
