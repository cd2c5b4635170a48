// The bytes of the server's log: a header, then one record for each change, in the order in which
// the server carried the changes out. README.md has them as a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "stores/bytes.h"
#include "stores/checksum.h"
#include "stores/pilaf/messages.h"

namespace falafel::pilaf {

// Words of the header. The magic word is stored last, so a log without it is new.
inline constexpr std::uint64_t log_magic = 0x5049'4c41'464c'4f47;
inline constexpr std::uint64_t log_magic_offset = 0;
inline constexpr std::uint64_t log_incarnation_offset = 8;  // random
inline constexpr std::uint64_t log_runs_offset = 16;        // of servers on this log
inline constexpr std::uint64_t log_header_bytes = 32;

// Followed by the key and the value, and zeros up to a multiple of a word.
struct LogRecordHeader {
  RequestKind kind = RequestKind::put;  // or remove; zero behind the last record
  std::uint32_t key_bytes = 0;
  std::uint32_t value_bytes = 0;
  std::uint32_t zero = 0;
  std::uint64_t sequence = 0;  // 1, 2, ...
  std::uint64_t crc = 0;       // checksum of the record with zero in this field
};
inline constexpr std::uint64_t log_record_header_bytes = 32;
static_assert(sizeof(LogRecordHeader) == log_record_header_bytes);
static_assert(offsetof(LogRecordHeader, key_bytes) == 4);
static_assert(offsetof(LogRecordHeader, value_bytes) == 8);
static_assert(offsetof(LogRecordHeader, sequence) == 16);
static_assert(offsetof(LogRecordHeader, crc) == 24);

constexpr std::uint64_t log_record_bytes_of(std::uint64_t key_bytes, std::uint64_t value_bytes) {
  return stores::whole_words(log_record_header_bytes + key_bytes + value_bytes);
}

// A PUT, or a DELETE, which has no value.
struct LoggedChange {
  RequestKind kind = RequestKind::put;
  std::span<const std::byte> key;
  std::span<const std::byte> value;
};

std::vector<std::byte> make_log_record(const LoggedChange& change, std::uint64_t sequence,
                                       const stores::Checksum& checksum);

// The record that starts with `bytes`, which may go on behind it. Nothing: there is no record of
// that sequence. A record that is there in part is one as well without a checksum.
std::optional<LoggedChange> parse_log_record(std::span<const std::byte> bytes,
                                             std::uint64_t sequence,
                                             const std::optional<stores::Checksum>& checksum);

}  // namespace falafel::pilaf
