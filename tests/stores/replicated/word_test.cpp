// Words of the replicated registers.
#include <gtest/gtest.h>

#include "stores/replicated/layout.h"

namespace falafel::replicated_test {
namespace {

using replicated::Word;

TEST(ReplicatedWord, HasTheFieldsItWasMadeOf) {
  const Word word(Word::most_stamps - 1, Word::most_writers - 1, true, Word::most_containers - 1);
  EXPECT_EQ(word.stamp(), Word::most_stamps - 1);
  EXPECT_EQ(word.writer(), Word::most_writers - 1);
  EXPECT_EQ(word.container(), Word::most_containers - 1);
  EXPECT_TRUE(word.is_absent());
  EXPECT_FALSE(word.is_settled());
  EXPECT_TRUE(word.settled().is_settled());
  EXPECT_EQ(word.settled().version(), word.version());
  EXPECT_EQ(word.in_container(7).container(), 7);
  EXPECT_EQ(word.in_container(7).version(), word.version());
}

TEST(ReplicatedWord, IsNewerByStampThenWriterThenIfItIsSettled) {
  const Word word(2, 1, false, 5);
  EXPECT_TRUE(word.is_newer_than(Word()));
  EXPECT_TRUE(word.is_newer_than(Word(1, 3, true, 9)));
  EXPECT_TRUE(word.is_newer_than(Word(2, 0, true, 9).settled()));
  EXPECT_TRUE(word.settled().is_newer_than(word));
  EXPECT_FALSE(word.is_newer_than(word.settled()));
  EXPECT_FALSE(word.is_newer_than(word.in_container(9)));
  EXPECT_FALSE(word.in_container(9).is_newer_than(word));
}

}  // namespace
}  // namespace falafel::replicated_test
