#include "stores/pilaf/layout.h"

#include <cstring>

#include "stores/crc64.h"

namespace falafel::pilaf {
namespace {

std::uint64_t crc_of(const Entry& entry) {
  static_assert(std::has_unique_object_representations_v<Entry>);
  return stores::crc64(std::as_bytes(std::span(&entry, 1)).first(offsetof(Entry, entry_crc)));
}

Entry with_crc(Entry entry) {
  entry.entry_crc = crc_of(entry);
  return entry;
}

}  // namespace

bool Entry::verifies() const { return entry_crc == crc_of(*this); }

Entry make_entry(const ExtentPointer& pointer, std::uint32_t changes) {
  return with_crc({.flags = in_use_flag | changes << first_count_bit,
                   .extent_bytes = pointer.bytes,
                   .extent_offset = pointer.offset,
                   .extent_crc = pointer.crc});
}

Entry make_empty_entry(bool was_emptied, std::uint32_t changes) {
  return with_crc({.flags = (was_emptied ? emptied_flag : 0) | changes << first_count_bit});
}

std::vector<std::byte> make_extent(std::span<const std::byte> key,
                                   std::span<const std::byte> value) {
  std::vector<std::byte> extent(extent_bytes_of(key.size(), value.size()));
  const ExtentHeader header{.key_bytes = static_cast<std::uint32_t>(key.size()),
                            .value_bytes = static_cast<std::uint32_t>(value.size())};
  std::memcpy(extent.data(), &header, sizeof header);
  std::byte* const after_key = std::copy_n(key.data(), key.size(), extent.data() + sizeof header);
  std::copy_n(value.data(), value.size(), after_key);
  return extent;
}

std::optional<ExtentView> parse_extent(std::span<const std::byte> extent) {
  ExtentHeader header;
  if (extent.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, extent.data(), sizeof header);
  if (extent.size() != extent_bytes_of(header.key_bytes, header.value_bytes)) return std::nullopt;
  return ExtentView{.key = extent.subspan(sizeof header, header.key_bytes),
                    .value = extent.subspan(sizeof header + header.key_bytes, header.value_bytes)};
}

}  // namespace falafel::pilaf
