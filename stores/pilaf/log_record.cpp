#include "stores/pilaf/log_record.h"

#include <algorithm>
#include <cstring>

namespace falafel::pilaf {
namespace {

// The field for the checksum is zero.
std::uint64_t checksum_of(std::vector<std::byte> record, const stores::Checksum& checksum) {
  std::memset(record.data() + offsetof(LogRecordHeader, crc), 0, sizeof(std::uint64_t));
  return checksum.of(record);
}

bool is_change(const LogRecordHeader& header) {
  if (header.key_bytes == 0) return false;
  return header.kind == RequestKind::put ||
         (header.kind == RequestKind::remove && header.value_bytes == 0);
}

}  // namespace

std::vector<std::byte> make_log_record(const LoggedChange& change, std::uint64_t sequence,
                                       const stores::Checksum& checksum) {
  LogRecordHeader header{.kind = change.kind,
                         .key_bytes = static_cast<std::uint32_t>(change.key.size()),
                         .value_bytes = static_cast<std::uint32_t>(change.value.size()),
                         .sequence = sequence};
  std::vector<std::byte> record(log_record_bytes_of(header.key_bytes, header.value_bytes));
  std::memcpy(record.data(), &header, sizeof header);
  const auto after_key = std::ranges::copy(change.key, record.begin() + log_record_header_bytes);
  std::ranges::copy(change.value, after_key.out);
  header.crc = checksum_of(record, checksum);
  std::memcpy(record.data(), &header, sizeof header);
  return record;
}

std::optional<LoggedChange> parse_log_record(std::span<const std::byte> bytes,
                                             std::uint64_t sequence,
                                             const std::optional<stores::Checksum>& checksum) {
  const auto header = stores::from_bytes<LogRecordHeader>(bytes);
  if (!header || !is_change(*header) || header->sequence != sequence) return std::nullopt;
  const std::uint64_t length = log_record_bytes_of(header->key_bytes, header->value_bytes);
  if (length > bytes.size()) return std::nullopt;
  const auto record = bytes.first(length);
  if (checksum && checksum_of({record.begin(), record.end()}, *checksum) != header->crc) {
    return std::nullopt;
  }
  return LoggedChange{
      .kind = header->kind,
      .key = record.subspan(log_record_header_bytes, header->key_bytes),
      .value = record.subspan(log_record_header_bytes + header->key_bytes, header->value_bytes)};
}

}  // namespace falafel::pilaf
