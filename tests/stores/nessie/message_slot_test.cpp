// When the owner of a slot takes a message that arrives word by word.
#include "stores/nessie/message_slot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tests/stores/nessie/bytes.h"
#include "tests/stores/nessie/cluster.h"
#include "tests/stores/nessie/one_host.h"
#include "tools/scenarios/colliding_values.h"

namespace falafel::nessie_test {
namespace {

using namespace nessie;

// Stores the words of a message in this order, and counts how many were there when the receiver
// took it; 0 if it never did.
std::size_t words_until_taken(Arrival arrival, std::vector<std::size_t> order) {
  std::size_t taken_after = 0;
  on_one_host([&](fabric::Host& host) {
    Options options = small_options();
    options.arrival = arrival;
    const MessageLayout layout(options.most_key_bytes, options.most_value_bytes);
    const auto block = host.allocate_memory(layout.slot_bytes()).value();
    const Message message{
        .sequence = 1, .kind = 2, .key = bytes_of("key"), .value = bytes_of("a longer value")};
    const Bytes bytes = layout.encode(message, arrival);
    ASSERT_EQ(bytes.size(), 8 * order.size());
    std::size_t stored = 0;
    const auto receiver = host.spawn({}, [&] {
      MessageSlot slot(host, block, 0, options);
      const auto received = slot.receive(host.now_ns() + 10'000 * microsecond_ns);
      if (!received) return;
      taken_after = stored;
    });
    for (const std::size_t word : order) {
      std::uint64_t value = 0;
      std::memcpy(&value, bytes.data() + 8 * word, sizeof value);
      ++stored;
      block->store(8 * word, value);
      host.sleep_until(host.now_ns() + 300 * microsecond_ns);
    }
    host.join(receiver);
  });
  return taken_after;
}

TEST(MessageSlot, TakesAMessageThatComesInOrderWhenItIsWhole) {
  for (const Arrival arrival : {Arrival::tail_in_address_order, Arrival::checksum}) {
    EXPECT_EQ(words_until_taken(arrival, {0, 1, 2, 3, 4, 5}), 6U);
  }
}

TEST(MessageSlot, TakesAMessageWithAChecksumInAnyOrder) {
  for (const auto& order : std::vector<std::vector<std::size_t>>{
           {5, 4, 3, 2, 1, 0}, {0, 5, 1, 4, 2, 3}, {3, 0, 5, 2, 4, 1}}) {
    EXPECT_EQ(words_until_taken(Arrival::checksum, order), 6U);
  }
}

TEST(MessageSlot, TakesTooEarlyWhatComesInAnotherOrderThanItRelieson) {
  EXPECT_LT(words_until_taken(Arrival::tail_in_address_order, {0, 1, 5, 2, 3, 4}), 6U);
  EXPECT_LT(words_until_taken(Arrival::separate_flag_write, {1, 0, 2, 3, 4, 5}), 6U);
}

// An earlier message has left a value where the tail of the next one will be. If the value is the
// next sequence, the receiver takes the next message as soon as its first word is there.
TEST(MessageSlot, TakesAnEarlierValueForTheTail) {
  for (const Arrival arrival : {Arrival::tail_in_address_order, Arrival::checksum}) {
    on_one_host([arrival](fabric::Host& host) {
      Options options = small_options();
      options.arrival = arrival;
      const MessageLayout layout(options.most_key_bytes, options.most_value_bytes);
      const auto block = host.allocate_memory(layout.slot_bytes()).value();
      MessageSlot slot(host, block, 0, options);
      const Bytes earlier = layout.encode(
          {.sequence = 1, .kind = 2, .key = bytes_of("old"), .value = {std::byte{2}}}, arrival);
      store_message(*block, 0, earlier, arrival);
      EXPECT_TRUE(slot.receive(fabric::never_ns));
      const Bytes next = layout.encode({.sequence = 2, .kind = 3, .key = bytes_of("new")}, arrival);
      block->write(0, std::span(next).first(16));
      const auto taken = slot.receive(host.now_ns() + 100 * microsecond_ns);
      const bool is_fooled = arrival == Arrival::tail_in_address_order;
      ASSERT_EQ(taken.has_value(), is_fooled);
      EXPECT_EQ(taken ? text_of(taken->key) : "", is_fooled ? "old" : "");
    });
  }
}

// Two messages whose values have the same CRC. Of the second one, all but the value is there.
TEST(MessageSlot, TakesAnEarlierValueOfTheSameCrc) {
  for (const bool is_keyed : {false, true}) {
    on_one_host([is_keyed](fabric::Host& host) {
      Options options = small_options();
      options.arrival = Arrival::checksum;
      options.safeguards.keyed_checksums = is_keyed;
      const MessageLayout layout(options);
      const auto block = host.allocate_memory(layout.slot_bytes()).value();
      MessageSlot slot(host, block, 0, options);
      const auto encode = [&](std::uint32_t sequence, std::string_view word) {
        return layout.encode({.sequence = sequence,
                              .kind = 1,
                              .value = scenarios::colliding_value(bytes_of(word), 1, 0)},
                             options.arrival);
      };
      block->write(0, encode(1, "earlier!"));
      EXPECT_TRUE(slot.receive(fabric::never_ns));
      const Bytes next = encode(2, "the next");
      const std::size_t tail = next.size() - fabric::word_bytes;
      block->write(0, std::span(next).first(sizeof(MessageHeader)));
      block->write(tail, std::span(next).subspan(tail));
      const auto taken = slot.receive(host.now_ns() + 100 * microsecond_ns);
      ASSERT_EQ(taken.has_value(), !is_keyed);
      const std::string value = taken ? text_of(taken->value) : "none";
      EXPECT_EQ(value.substr(0, 8), is_keyed ? "none" : "earlier!");
      block->write(0, next);
      EXPECT_EQ(slot.receive(host.now_ns() + 100 * microsecond_ns).has_value(), is_keyed);
    });
  }
}

TEST(MessageSlot, WaitsForAnotherSequence) {
  on_one_host([](fabric::Host& host) {
    const Options options = small_options();
    const MessageLayout layout(options.most_key_bytes, options.most_value_bytes);
    const auto block = host.allocate_memory(layout.slot_bytes()).value();
    MessageSlot slot(host, block, 0, options);
    const auto store = [&](std::uint32_t sequence) {
      store_message(*block, 0, layout.encode({.sequence = sequence, .kind = 1}, options.arrival),
                    options.arrival);
    };
    const auto receive = [&] {
      const auto message = slot.receive(host.now_ns() + 50 * microsecond_ns);
      return message ? message->sequence : 0;
    };
    EXPECT_EQ(receive(), 0U);
    store(5);
    EXPECT_EQ(receive(), 5U);
    EXPECT_EQ(receive(), 0U);
    store(4);
    EXPECT_EQ(receive(), 4U);
  });
}

}  // namespace
}  // namespace falafel::nessie_test
