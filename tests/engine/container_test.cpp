// Containers verify themselves: a written container reads back, and nothing else verifies,
// regardless of the flipped bit, the length of the input, or the mixture of two containers.
#include "engine/layout/container.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "engine/layout/crc32c.h"

namespace falafel::engine {
namespace {

using Bytes = std::vector<std::byte>;

Bytes bytes_of(std::span<const std::uint8_t> values) {
  const auto bytes = std::as_bytes(values);
  return {bytes.begin(), bytes.end()};
}

struct KeyAndValue {
  Bytes key;
  Bytes value;

  friend bool operator==(const KeyAndValue&, const KeyAndValue&) = default;
};

Bytes arbitrary_bytes(std::size_t least, std::size_t most) {
  const std::size_t length = *rc::gen::inRange<std::size_t>(least, most + 1);
  return bytes_of(
      *rc::gen::container<std::vector<std::uint8_t>>(length, rc::gen::arbitrary<std::uint8_t>()));
}

Bytes container_of(const KeyAndValue& content) {
  Bytes container(container_bytes(content.key.size(), content.value.size()));
  write_container(content.key, content.value, container);
  return container;
}

std::optional<KeyAndValue> read_container(std::span<const std::byte> bytes,
                                          Verification verification = Verification::on) {
  const auto header = read_container_header(bytes, verification);
  if (!header) return std::nullopt;
  const auto key = read_container_key(bytes, *header, verification);
  const auto value = read_container_value(bytes, *header, verification);
  if (!key || !value) return std::nullopt;
  return KeyAndValue{{key->begin(), key->end()}, {value->begin(), value->end()}};
}

RC_GTEST_PROP(Container, IsReadAsItWasWritten, ()) {
  const KeyAndValue content{arbitrary_bytes(0, 100), arbitrary_bytes(0, 300)};
  Bytes container = container_of(content);
  RC_ASSERT(read_container(container) == content);
  const Bytes padding = arbitrary_bytes(0, 64);  // the bytes after the container are ignored
  container.insert(container.end(), padding.begin(), padding.end());
  RC_ASSERT(read_container(container) == content);
}

TEST(Container, HasTheDocumentedBytes) {
  const Bytes key(2, std::byte{0x6b});
  const Bytes value(3, std::byte{0x76});
  const Bytes container = container_of({key, value});
  const std::array<std::uint8_t, 12> expected{0x1a, 0xfa, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0};
  EXPECT_TRUE(
      std::ranges::equal(std::span(container).first(12), std::as_bytes(std::span(expected))));
  std::array<std::uint32_t, 3> checksums;
  std::memcpy(checksums.data(), container.data() + 12, sizeof checksums);
  Bytes checked(container.begin(), container.begin() + 12);
  EXPECT_EQ(checksums[0], crc32c(checked));
  checked.insert(checked.end(), key.begin(), key.end());
  EXPECT_EQ(checksums[1], crc32c(checked));
  checked.insert(checked.end(), value.begin(), value.end());
  EXPECT_EQ(checksums[2], crc32c(checked));
  EXPECT_TRUE(std::ranges::equal(std::span(container).subspan(24, 2), key));
  EXPECT_TRUE(std::ranges::equal(std::span(container).subspan(26), value));
}

TEST(Container, ZeroedMemoryIsNone) {
  const Bytes zeroed(256);
  EXPECT_FALSE(read_container_header(zeroed, Verification::on));
}

TEST(Container, MemoryOfOneValueIsNone) {
  for (int value = 0; value < 256; ++value) {
    EXPECT_FALSE(
        read_container_header(Bytes(256, static_cast<std::byte>(value)), Verification::on));
  }
}

void expect_every_flipped_bit_is_noticed(const KeyAndValue& content) {
  Bytes container = container_of(content);
  for (std::size_t bit = 0; bit < container.size() * 8; ++bit) {
    const std::byte mask = std::byte{1} << (bit % 8);
    container[bit / 8] ^= mask;
    ASSERT_FALSE(read_container(container)) << "bit " << bit;
    container[bit / 8] ^= mask;
  }
  ASSERT_EQ(read_container(container), content);
}

TEST(Container, EveryFlippedBitIsNoticed) {
  const auto key = Bytes(17, std::byte{0x5a});
  expect_every_flipped_bit_is_noticed({key, Bytes(101, std::byte{0x00})});
  expect_every_flipped_bit_is_noticed({key, {}});
  expect_every_flipped_bit_is_noticed({{}, {}});
}

// The part with the flipped bit fails, so a reader that has loaded only that part detects it.
TEST(Container, AFlippedBitIsNoticedInItsPart) {
  const Bytes whole = container_of({Bytes(9, std::byte{1}), Bytes(9, std::byte{2})});
  const ContainerHeader header = *read_container_header(whole, Verification::on);
  for (std::size_t byte = 0; byte < 16; ++byte) {
    Bytes damaged = whole;
    damaged[byte] ^= std::byte{0x10};
    EXPECT_FALSE(read_container_header(damaged, Verification::on)) << byte;
  }
  for (std::size_t byte = container_header_bytes; byte < header.key_end(); ++byte) {
    Bytes damaged = whole;
    damaged[byte] ^= std::byte{0x10};
    EXPECT_FALSE(read_container_key(damaged, header, Verification::on)) << byte;
  }
  Bytes damaged = whole;
  damaged.back() ^= std::byte{0x10};
  EXPECT_TRUE(read_container_key(damaged, header, Verification::on));
  EXPECT_FALSE(read_container_value(damaged, header, Verification::on));
}

TEST(Container, IsReadPartByPartAsFarAsItWasLoaded) {
  const KeyAndValue content{Bytes(10, std::byte{3}), Bytes(20, std::byte{4})};
  const Bytes whole = container_of(content);
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    const auto loaded = std::span(whole).first(length);
    for (const Verification verification : {Verification::off, Verification::on}) {
      const auto header = read_container_header(loaded, verification);
      ASSERT_EQ(header.has_value(), length >= 24) << length;
      if (!header) continue;
      EXPECT_EQ(header->container_bytes(), whole.size());
      EXPECT_EQ(read_container_key(loaded, *header, verification).has_value(), length >= 34);
      EXPECT_EQ(read_container_value(loaded, *header, verification).has_value(), length >= 54);
    }
  }
}

// Lengths that exceed the loaded bytes never lead a reader out of bounds, with or without
// verification.
RC_GTEST_PROP(Container, ArbitraryBytesAreReadWithinTheirEnd, ()) {
  Bytes bytes = arbitrary_bytes(24, 64);
  if (*rc::gen::arbitrary<bool>()) std::fill_n(bytes.begin() + 4, 8, std::byte{0xff});
  RC_ASSERT(!read_container(bytes, Verification::on));
  const auto content = read_container(bytes, Verification::off);
  if (!content) return;
  RC_ASSERT(container_bytes(content->key.size(), content->value.size()) <= bytes.size());
}

TEST(Container, OfAnotherMagicIsNone) {
  Bytes container = container_of({Bytes(4, std::byte{1}), Bytes(4, std::byte{2})});
  container[0] ^= std::byte{1};
  const std::uint32_t mended = crc32c(std::span(container).first(12));
  std::memcpy(container.data() + 12, &mended, sizeof mended);
  EXPECT_FALSE(read_container_header(container, Verification::on));
}

TEST(Container, WithoutVerificationWrongBytesPass) {
  const KeyAndValue content{Bytes(4, std::byte{1}), Bytes(4, std::byte{2})};
  Bytes container = container_of(content);
  std::fill_n(container.begin() + 12, 12, std::byte{0});
  EXPECT_EQ(read_container(container, Verification::off), content);
  EXPECT_FALSE(read_container(container, Verification::on));
}

// A torn read mixes an old and a new container word by word. Whatever verifies is one of the two.
RC_GTEST_PROP(Container, AMixtureOfTwoNeverPassesAsAThird, ()) {
  const auto length = rc::gen::inRange<std::size_t>(0, 24);
  const std::size_t key_bytes = *length;
  const std::size_t value_bytes = *length;
  const KeyAndValue older{arbitrary_bytes(key_bytes, key_bytes),
                          arbitrary_bytes(value_bytes, value_bytes)};
  KeyAndValue newer{older.key, arbitrary_bytes(value_bytes, value_bytes)};
  if (*rc::gen::arbitrary<bool>()) newer.key = arbitrary_bytes(key_bytes, key_bytes);
  const Bytes source = container_of(older);
  Bytes mixture = container_of(newer);
  for (std::size_t start = 0; start < mixture.size(); start += 8) {
    if (*rc::gen::arbitrary<bool>()) continue;
    const std::size_t count = std::min<std::size_t>(8, mixture.size() - start);
    std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(start), count,
                mixture.begin() + static_cast<std::ptrdiff_t>(start));
  }
  const auto read = read_container(mixture);
  RC_ASSERT(!read || read == older || read == newer);
}

TEST(Container, TheStandInForAnUnreadableOneIsAKeyThatNobodyAsksFor) {
  Bytes container(container_header_bytes, std::byte{0xee});
  write_unreadable_container(container);
  const auto content = read_container(container);
  ASSERT_TRUE(content);
  EXPECT_TRUE(content->key.empty());
}

}  // namespace
}  // namespace falafel::engine
