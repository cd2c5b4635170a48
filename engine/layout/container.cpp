#include "engine/layout/container.h"

#include <bit>
#include <cstring>

#include "engine/copy_bytes.h"
#include "engine/layout/crc32c.h"
#include "fabric/fabric.h"

namespace falafel::engine {
namespace {

static_assert(std::endian::native == std::endian::little, "layouts are little-endian");

constexpr std::size_t checked_header_bytes = offsetof(ContainerHeader, header_crc);

std::uint32_t checksum_of_header(const ContainerHeader& header) {
  return crc32c(std::as_bytes(std::span(&header, 1)).first(checked_header_bytes));
}

}  // namespace

void write_container(std::span<const std::byte> key, std::span<const std::byte> value,
                     std::span<std::byte> destination, std::span<const std::byte> prefix) {
  const std::size_t value_bytes = prefix.size() + value.size();
  FALAFEL_ASSERT(destination.size() >= container_bytes(key.size(), value_bytes),
                 "a container with {} + {} bytes does not fit into {} bytes", key.size(),
                 value_bytes, destination.size());
  ContainerHeader header;
  header.key_bytes = static_cast<std::uint32_t>(key.size());
  header.value_bytes = static_cast<std::uint32_t>(value_bytes);
  header.header_crc = checksum_of_header(header);
  header.key_crc = crc32c(key, header.header_crc);
  header.value_crc = crc32c(value, crc32c(prefix, header.key_crc));
  std::memcpy(destination.data(), &header, sizeof header);
  copy_bytes(key, destination.data() + container_header_bytes);
  copy_bytes(prefix, destination.data() + header.key_end());
  copy_bytes(value, destination.data() + header.key_end() + prefix.size());
}

void write_unreadable_container(std::span<std::byte> destination) {
  write_container({}, {}, destination);
}

std::optional<ContainerHeader> read_container_header(std::span<const std::byte> bytes,
                                                     Verification verification) {
  if (bytes.size() < container_header_bytes) return std::nullopt;
  ContainerHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (verification == Verification::on &&
      (header.magic != container_magic || header.header_crc != checksum_of_header(header))) {
    return std::nullopt;
  }
  return header;
}

std::optional<std::span<const std::byte>> read_container_key(std::span<const std::byte> bytes,
                                                             const ContainerHeader& header,
                                                             Verification verification) {
  if (bytes.size() < header.key_end()) return std::nullopt;
  const auto key = bytes.subspan(container_header_bytes, header.key_bytes);
  if (verification == Verification::on && !verify_container_key(key, header)) {
    return std::nullopt;
  }
  return key;
}

std::optional<std::span<const std::byte>> read_container_value(std::span<const std::byte> bytes,
                                                               const ContainerHeader& header,
                                                               Verification verification) {
  if (bytes.size() < header.container_bytes()) return std::nullopt;
  const auto value = bytes.subspan(header.key_end(), header.value_bytes);
  if (verification == Verification::on && !verify_container_value(value, header)) {
    return std::nullopt;
  }
  return value;
}

ContainerDamage damage_of(std::span<const std::byte> bytes) {
  ContainerHeader header;
  if (bytes.size() < sizeof header) return {};
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::uint32_t of_header = checksum_of_header(header);
  const ContainerDamage in_header{ContainerPart::header, header.header_crc, of_header};
  if (header.header_crc != of_header || bytes.size() < header.key_end()) return in_header;
  const std::uint32_t of_key =
      crc32c(bytes.subspan(container_header_bytes, header.key_bytes), header.header_crc);
  if (header.key_crc != of_key) return {ContainerPart::key, header.key_crc, of_key};
  if (bytes.size() < header.container_bytes()) return in_header;
  const std::uint32_t of_value =
      crc32c(bytes.subspan(header.key_end(), header.value_bytes), header.key_crc);
  return {ContainerPart::value, header.value_crc, of_value};
}

bool verify_container_key(std::span<const std::byte> key, const ContainerHeader& header) {
  return key.size() == header.key_bytes && crc32c(key, header.header_crc) == header.key_crc;
}

bool verify_container_value(std::span<const std::byte> value, const ContainerHeader& header) {
  return value.size() == header.value_bytes && crc32c(value, header.key_crc) == header.value_crc;
}

}  // namespace falafel::engine
