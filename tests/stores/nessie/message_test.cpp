// The bytes of messages.
#include "stores/nessie/message.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstring>

#include "tests/stores/nessie/bytes.h"

namespace falafel::nessie_test {
namespace {

using namespace nessie;

constexpr std::array<Arrival, 3> all_arrivals{Arrival::tail_in_address_order,
                                              Arrival::separate_flag_write, Arrival::checksum};

std::uint64_t word_at(const Bytes& bytes, std::size_t offset) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + offset, sizeof word);
  return word;
}

TEST(MessageBytes, AreWhereTheDocumentSays) {
  const MessageLayout layout(8, 24);
  EXPECT_EQ(layout.slot_bytes(), 16U + 8U + 24U + 8U);
  const Bytes bytes =
      layout.encode({.sequence = 7, .kind = 2, .key = bytes_of("key"), .value = bytes_of("value")},
                    Arrival::tail_in_address_order);
  EXPECT_EQ(bytes.size(), 40U);
  EXPECT_EQ(word_at(bytes, 0), std::uint64_t{7} << 32U | 2U << 24U | 3U);
  EXPECT_EQ(word_at(bytes, 8), 5U);
  EXPECT_EQ(text_of(std::span(bytes).subspan(16, 3)), "key");
  EXPECT_EQ(text_of(std::span(bytes).subspan(24, 5)), "value");
  EXPECT_EQ(word_at(bytes, 32), 7U);
}

RC_GTEST_PROP(MessageBytes, AreTheSameAfterDecoding, (std::string key, std::string value)) {
  const MessageLayout layout(key.size(), value.size());
  const Message message{.sequence = *rc::gen::arbitrary<std::uint32_t>(),
                        .kind = *rc::gen::arbitrary<std::uint8_t>(),
                        .key = bytes_of(key),
                        .value = bytes_of(value)};
  for (const Arrival arrival : all_arrivals) {
    Bytes bytes = layout.encode(message, arrival);
    RC_ASSERT(bytes.size() == layout.slot_bytes());
    RC_ASSERT(layout.decode(bytes, arrival) == message);
    bytes.resize(bytes.size() + 8, std::byte{0xff});  // what an earlier message has left
    RC_ASSERT(layout.decode(bytes, arrival) == message);
  }
}

// While a message arrives over another one, some of its words are there and others are not.
RC_GTEST_PROP(MessageBytes, OfTwoMessagesNeverVerify, ()) {
  const MessageLayout layout(8, 40);
  const auto draw = [&](std::uint32_t sequence) {
    return layout.encode(
        {.sequence = sequence,
         .kind = 2,
         .key = *rc::gen::container<Bytes>(5, rc::gen::cast<std::byte>(rc::gen::inRange(0, 4))),
         .value = *rc::gen::container<Bytes>(33, rc::gen::cast<std::byte>(rc::gen::inRange(0, 4)))},
        Arrival::checksum);
  };
  const Bytes before = draw(1);
  const Bytes after = draw(2);
  Bytes mixed = before;
  for (std::size_t offset = 0; offset < mixed.size(); offset += 8) {
    if (*rc::gen::arbitrary<bool>()) std::memcpy(&mixed[offset], &after[offset], 8);
  }
  const auto message = layout.decode(mixed, Arrival::checksum);
  RC_ASSERT(message.has_value() == (mixed == before || mixed == after));
}

TEST(MessageBytes, WithImpossibleSizesAreRefused) {
  const MessageLayout layout(8, 8);
  Bytes bytes = layout.encode({.sequence = 1, .kind = 1, .key = bytes_of("key")},
                              Arrival::separate_flag_write);
  EXPECT_TRUE(layout.decode(bytes, Arrival::separate_flag_write));
  bytes[0] = std::byte{9};
  EXPECT_FALSE(layout.decode(bytes, Arrival::separate_flag_write));
  bytes[0] = std::byte{3};
  bytes[15] = std::byte{255};
  EXPECT_FALSE(layout.decode(bytes, Arrival::separate_flag_write));
  EXPECT_FALSE(layout.decode({}, Arrival::separate_flag_write));
}

}  // namespace
}  // namespace falafel::nessie_test
