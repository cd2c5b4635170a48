#include "tools/command_line/dump/dump_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "engine/layout/container.h"
#include "engine/layout/crc32c.h"

namespace falafel::dump {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr std::array<char, 8> magic = {'F', 'A', 'L', 'A', 'D', 'U', 'M', 'P'};

struct FileHeader {
  std::array<char, 8> magic = dump::magic;
  std::uint32_t version = format_version;
  std::uint32_t reserved = 0;
  std::uint64_t wall_clock_ns = 0;  // when the dump began
  std::uint32_t reserved_too = 0;
  std::uint32_t checksum = 0;  // of everything before
};
static_assert(sizeof(FileHeader) == 32);

enum class RecordKind : std::uint32_t { entry = 1, end = 2 };

struct RecordHeader {
  RecordKind kind = RecordKind::entry;
  std::uint32_t key_bytes = 0;
  std::uint64_t value_bytes = 0;      // end: the number of entries
  std::uint64_t time_to_live_ns = 0;  // end: the bytes of the file in front of this record
  std::uint32_t header_checksum = 0;
  std::uint32_t content_checksum = 0;  // end: the same as the other one
};
static_assert(sizeof(RecordHeader) == 32);

template <typename Header>
std::span<const std::byte> bytes_before(const Header& header, std::size_t end) {
  return std::as_bytes(std::span(&header, 1)).first(end);
}

template <typename Header>
std::span<std::byte> bytes_in(Header& header) {
  return std::as_writable_bytes(std::span(&header, 1));
}

std::uint32_t checksum_of(const FileHeader& header) {
  return engine::crc32c(bytes_before(header, offsetof(FileHeader, checksum)));
}

std::uint32_t checksum_of(const RecordHeader& header, std::uint32_t before) {
  return engine::crc32c(bytes_before(header, offsetof(RecordHeader, header_checksum)), before);
}

}  // namespace

bool Writer::write(std::span<const std::byte> bytes) {
  bytes_ += bytes.size();
  return sink_(bytes);
}

bool Writer::begin(std::uint64_t wall_clock_ns) {
  FileHeader header{.wall_clock_ns = wall_clock_ns};
  header.checksum = checksum_ = checksum_of(header);
  return write(bytes_in(header));
}

bool Writer::add(std::span<const std::byte> key, std::span<const std::byte> value,
                 std::uint64_t time_to_live_ns) {
  RecordHeader header{.key_bytes = static_cast<std::uint32_t>(key.size()),
                      .value_bytes = value.size(),
                      .time_to_live_ns = time_to_live_ns};
  header.header_checksum = checksum_of(header, checksum_);
  header.content_checksum = engine::crc32c(value, engine::crc32c(key, header.header_checksum));
  checksum_ = header.content_checksum;
  ++entries_;
  return write(bytes_in(header)) && write(key) && write(value);
}

bool Writer::end() {
  RecordHeader header{.kind = RecordKind::end, .value_bytes = entries_, .time_to_live_ns = bytes_};
  header.header_checksum = header.content_checksum = checksum_of(header, checksum_);
  return write(bytes_in(header));
}

bool Reader::read(std::span<std::byte> bytes) {
  const std::size_t count = source_(bytes);
  bytes_ += count;
  return count == bytes.size();
}

// Takes memory as the bytes arrive, so a wrong length costs no more than the file has.
bool Reader::read(std::vector<std::byte>& bytes, std::uint64_t count) {
  constexpr std::uint64_t piece_bytes = std::uint64_t{16} << 20U;
  while (bytes.size() < count) {
    const std::size_t begin = bytes.size();
    bytes.resize(begin + std::min(piece_bytes, count - begin));
    if (!read(std::span(bytes).subspan(begin))) return false;
  }
  return true;
}

std::string Reader::truncated() const {
  return fmt::format("the dump ends after {} bytes, in front of its end; it is incomplete", bytes_);
}

std::string Reader::damaged() const {
  return fmt::format("the dump is damaged before byte {}, at entry {}", bytes_, entries_ + 1);
}

tl::expected<void, std::string> Reader::begin() {
  FileHeader header;
  const bool is_whole = read(bytes_in(header));
  if (bytes_ < magic.size() || header.magic != magic) {
    return tl::unexpected(std::string("this is not a dump of a store"));
  }
  if (!is_whole) return tl::unexpected(truncated());
  checksum_ = checksum_of(header);
  if (header.checksum != checksum_) {
    return tl::unexpected(std::string("the dump is damaged in its header"));
  }
  if (header.version != format_version) {
    return tl::unexpected(
        fmt::format("the dump has format version {}, and this program reads {}; "
                    "load it with the release that wrote it, or a later one",
                    header.version, format_version));
  }
  return {};
}

tl::expected<std::optional<Entry>, std::string> Reader::next() {
  RecordHeader header;
  const std::uint64_t begin = bytes_;
  if (!read(bytes_in(header))) return tl::unexpected(truncated());
  const std::uint32_t header_checksum = checksum_of(header, checksum_);
  if (header.header_checksum != header_checksum) return tl::unexpected(damaged());
  if (header.kind == RecordKind::end) {
    if (header.content_checksum != header_checksum || header.value_bytes != entries_ ||
        header.time_to_live_ns != begin) {
      return tl::unexpected(damaged());
    }
    std::byte more{};
    if (!read({&more, 1})) return std::nullopt;
    return tl::unexpected(std::string("more bytes follow the end of the dump"));
  }
  if (header.kind != RecordKind::entry || header.key_bytes > engine::max_key_bytes) {
    return tl::unexpected(damaged());
  }
  Entry entry{.key = {}, .value = {}, .time_to_live_ns = header.time_to_live_ns};
  if (!read(entry.key, header.key_bytes) || !read(entry.value, header.value_bytes)) {
    return tl::unexpected(truncated());
  }
  checksum_ = engine::crc32c(entry.value, engine::crc32c(entry.key, header_checksum));
  if (header.content_checksum != checksum_) return tl::unexpected(damaged());
  ++entries_;
  return entry;
}

}  // namespace falafel::dump
