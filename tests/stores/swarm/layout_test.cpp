// Words, records, and where they are in memory.
#include <gtest/gtest.h>

#include <string_view>

#include "stores/swarm/layout.h"
#include "stores/swarm/record.h"
#include "stores/swarm/word.h"

namespace falafel::swarm_test {
namespace {

using swarm::Word;

swarm::Content content(std::string_view text) {
  return swarm::content_of(std::as_bytes(std::span(text)));
}

TEST(SwarmWord, HasTheFieldsItWasMadeOf) {
  const Word word(Word::most_timestamps - 1, Word::most_buffers - 1, Word::most_writers - 1);
  EXPECT_EQ(word.timestamp(), Word::most_timestamps - 1);
  EXPECT_EQ(word.buffer(), Word::most_buffers - 1);
  EXPECT_EQ(word.writer(), Word::most_writers - 1);
  EXPECT_FALSE(word.is_verified());
  EXPECT_EQ(word.verified().bits(), ~std::uint64_t{0});
}

TEST(SwarmWord, IsOrderedByTimestampThenPlaceThenIfItIsVerified) {
  const Word word(2, 5, 1);
  EXPECT_LT(Word(), word);
  EXPECT_LT(Word(1, 9, 9).verified(), word);
  EXPECT_LT(word, word.verified());
  EXPECT_LT(word.verified(), Word(2, 6, 1));
  EXPECT_TRUE(word.is_same_version(word.verified()));
  EXPECT_FALSE(word.is_same_version(Word(3, 5, 1)));
  EXPECT_EQ(word.identity(), Word(3, 5, 1).verified().identity());
  EXPECT_NE(word.identity(), Word(2, 5, 2).identity());
}

TEST(SwarmRecord, ComesBackAsItWas) {
  const Word word(2, 5, 1);
  const swarm::Record record = swarm::decode(swarm::encode(word, content("value"), 32));
  EXPECT_EQ(record.word, word);
  EXPECT_TRUE(record.has_right_hash());
  const auto value = swarm::value_in(record.content);
  ASSERT_TRUE(value.has_value());
  EXPECT_EQ(swarm::content_of(*value), content("value"));
}

TEST(SwarmRecord, HasAHashOfTheContentAndItsPlaceButNotOfTheTimestamp) {
  auto bytes = swarm::encode(Word(2, 5, 1), content("value"), 32);
  swarm::Record record = swarm::decode(bytes);
  record.word = Word(7, 5, 1).verified();
  EXPECT_TRUE(record.has_right_hash());
  record.word = Word(2, 6, 1);
  EXPECT_FALSE(record.has_right_hash());
  bytes.back() ^= std::byte{1};
  EXPECT_FALSE(swarm::decode(bytes).has_right_hash());
  EXPECT_FALSE(swarm::decode(std::vector<std::byte>(48)).has_right_hash());
}

TEST(SwarmRecord, TellsAbsenceFromAnEmptyValue) {
  EXPECT_FALSE(swarm::value_in(swarm::absent_content()).has_value());
  EXPECT_TRUE(swarm::value_in(content("")).has_value());
}

TEST(SwarmLayout, HasDisjointParts) {
  swarm::Options options;
  options.writers = 3;
  options.registers_per_writer = 2;
  options.buffers_per_writer = 4;
  options.metadata_words = 2;
  const swarm::Layout layout(options);
  EXPECT_EQ(layout.words_offset(0), layout.register_offset(0) + layout.record_bytes());
  EXPECT_EQ(layout.register_offset(1), layout.words_offset(0) + 16);
  EXPECT_EQ(layout.word_offset(0, 3), layout.words_offset(0) + 8);
  EXPECT_EQ(layout.lock_offset(Word(0, 0, 0)), layout.register_offset(6));
  EXPECT_EQ(layout.lock_offset(Word(0, 1, 0)),
            layout.buffer_offset(Word(0, 0, 0)) + layout.record_bytes());
  EXPECT_EQ(layout.slot_offset(0), layout.buffer_offset(Word(0, 3, 2)) + layout.record_bytes());
  EXPECT_EQ(layout.key_offset(0), layout.slot_offset(layout.slots()));
  EXPECT_EQ(layout.memory_bytes(), layout.key_offset(6));
}

}  // namespace
}  // namespace falafel::swarm_test
