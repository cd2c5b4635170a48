// A self-verifying container of one key and its value (Behringer 3.4, 3.5.5). A client writes it
// before an entry points to it, and nobody changes it while an entry does.
//
//   byte  0  u16  magic
//         2  u16  zero
//         4  u32  key length in bytes
//         8  u32  value length in bytes
//        12  u32  CRC-32C of bytes 0..11
//        16  u32  CRC-32C of bytes 0..11 and the key
//        20  u32  CRC-32C of bytes 0..11, the key and the value
//        24       key, then value, then padding of any content up to a whole number of units
//
// All integers are little-endian. Each checksum covers the parts before it, so a reader can verify
// each part as soon as it is loaded, and parts of different containers never verify together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace falafel::engine {

inline constexpr std::uint64_t max_key_bytes = 65'536;
inline constexpr std::uint64_t max_value_bytes = 0xffff'ffff;
inline constexpr std::uint16_t container_magic = 0xfa1a;

struct ContainerHeader {
  std::uint16_t magic = container_magic;
  std::uint16_t zero = 0;
  std::uint32_t key_bytes = 0;
  std::uint32_t value_bytes = 0;
  std::uint32_t header_crc = 0;
  std::uint32_t key_crc = 0;
  std::uint32_t value_crc = 0;

  // Excludes the padding.
  std::uint64_t container_bytes() const;
  std::uint64_t key_end() const;
};
inline constexpr std::uint64_t container_header_bytes = 24;
static_assert(sizeof(ContainerHeader) == container_header_bytes);
static_assert(offsetof(ContainerHeader, key_bytes) == 4);
static_assert(offsetof(ContainerHeader, value_bytes) == 8);
static_assert(offsetof(ContainerHeader, header_crc) == 12);
static_assert(offsetof(ContainerHeader, key_crc) == 16);
static_assert(offsetof(ContainerHeader, value_crc) == 20);

constexpr std::uint64_t container_bytes(std::uint64_t key_bytes, std::uint64_t value_bytes) {
  return container_header_bytes + key_bytes + value_bytes;
}

inline std::uint64_t ContainerHeader::container_bytes() const {
  return engine::container_bytes(key_bytes, value_bytes);
}
inline std::uint64_t ContainerHeader::key_end() const { return container_header_bytes + key_bytes; }

// Writes a container to the start of `destination`, which must be large enough. Its value consists
// of `prefix` and `value`.
void write_container(std::span<const std::byte> key, std::span<const std::byte> value,
                     std::span<std::byte> destination, std::span<const std::byte> prefix = {});

// Writes a container whose key no client can request. It replaces a container that does not verify,
// so that the collision chain through its entry stays intact. All such entries share one
// (Geometry::stand_in_offset).
void write_unreadable_container(std::span<std::byte> destination);

// Returns the parts of a container if `bytes`, which starts with the container, contains them.
// Without verification, only the lengths are checked.
enum class Verification : bool { off, on };
std::optional<ContainerHeader> read_container_header(std::span<const std::byte> bytes,
                                                     Verification verification);
std::optional<std::span<const std::byte>> read_container_key(std::span<const std::byte> bytes,
                                                             const ContainerHeader& header,
                                                             Verification verification);
std::optional<std::span<const std::byte>> read_container_value(std::span<const std::byte> bytes,
                                                               const ContainerHeader& header,
                                                               Verification verification);

// The first part of a container that does not verify. Equal checksums: the header has another
// magic, or states a length that no container has.
enum class ContainerPart : std::uint8_t { header, key, value };
struct ContainerDamage {
  ContainerPart part = ContainerPart::header;
  std::uint32_t expected_checksum = 0;  // which the header states
  std::uint32_t found_checksum = 0;     // of what is there

  friend bool operator==(const ContainerDamage&, const ContainerDamage&) = default;
};
// `bytes` starts with a container that does not verify, as far as it was loaded.
ContainerDamage damage_of(std::span<const std::byte> bytes);

// Verifies parts that were loaded separately.
bool verify_container_key(std::span<const std::byte> key, const ContainerHeader& header);
bool verify_container_value(std::span<const std::byte> value, const ContainerHeader& header);

}  // namespace falafel::engine
