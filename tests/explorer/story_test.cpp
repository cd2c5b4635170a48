// The lines of a story, one for each event that a reader has to know.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "explorer/story.h"
#include "explorer/vocabulary.h"
#include "fabric/fabric.h"
#include "fabric/sim/options/options.h"
#include "fabric/sim/trace.h"
#include "fabric/work_request.h"

namespace falafel::explorer {
namespace {

using sim::EventKind;

// Memory that stories only look at.
class OneWord final : public fabric::MemoryBlock {
 public:
  explicit OneWord(std::uint64_t word) { std::memcpy(bytes_.data(), &word, sizeof word); }
  std::span<std::byte> bytes() override { return bytes_; }
  std::uint64_t load(std::uint64_t /*offset*/) override { return 0; }
  void store(std::uint64_t /*offset*/, std::uint64_t /*value*/) override {}
  std::uint64_t compare_and_swap(std::uint64_t /*offset*/, std::uint64_t /*expected*/,
                                 std::uint64_t /*desired*/) override {
    return 0;
  }
  void read(std::uint64_t /*offset*/, std::span<std::byte> /*destination*/) override {}
  void write(std::uint64_t /*offset*/, std::span<const std::byte> /*source*/) override {}
  std::uint64_t wait_until_changed(std::uint64_t /*offset*/, std::uint64_t /*seen*/,
                                   std::uint64_t /*deadline_ns*/) override {
    return 0;
  }
  fabric::Result<void> commit(std::uint64_t /*offset*/, std::uint64_t /*length_bytes*/) override {
    return {};
  }
  void release(std::uint64_t /*offset*/, std::uint64_t /*length_bytes*/) override {}

 private:
  std::array<std::byte, 8> bytes_{};
};

// A story of two clients, which have a queue pair each.
class StoryTest : public testing::Test {
 protected:
  StoryTest() : story_(vocabulary_) {
    for (const std::uint32_t client : {0U, 1U}) {
      story_.introduce({.kind = sim::SubjectKind::queue_pair,
                        .number = client + 1,
                        .host = client == 0 ? "alice" : "bob"});
    }
  }
  // The line that an event adds; empty if it adds none.
  std::string told(const sim::TraceEvent& event) {
    const std::size_t before = story_.lines().size();
    story_.observe(event);
    if (story_.lines().size() == before) return {};
    const StoryLine& line = story_.lines().back();
    return fmt::format("{}: {}{}", line.who, line.text, line.is_clue ? " (clue)" : "");
  }
  std::string told_of_write(std::uint32_t queue_pair, std::uint64_t step) {
    return told({.kind = EventKind::words_written,
                 .subject = queue_pair,
                 .data = word_,
                 .block = &memory_,
                 .step = step});
  }
  void read(std::uint32_t queue_pair) {
    told({.kind = EventKind::words_read, .subject = queue_pair, .data = word_, .block = &memory_});
  }

  const PlainVocabulary vocabulary_;
  Story story_;
  OneWord memory_{5};
  std::array<std::byte, 8> word_{std::byte{7}};
};

TEST_F(StoryTest, TellsThatAWriteCompletesBeforeItIsInPlace) {
  const fabric::WorkRequest write{.opcode = fabric::Opcode::write, .length_bytes = 16};
  for (const std::uint64_t placed : {0U, 1U, 2U}) {
    Story story(vocabulary_);
    story.observe({.kind = EventKind::request_posted, .posted = &write});
    for (std::uint64_t count = 0; count < placed; ++count) {
      story.observe({.kind = EventKind::words_written, .data = word_});
    }
    const std::size_t before = story.lines().size();
    story.observe({.kind = EventKind::request_completed});
    const std::uint64_t left = 16 - 8 * placed;
    ASSERT_EQ(story.lines().size(), before + (left == 0 ? 0 : 1));
    if (left == 0) continue;
    EXPECT_EQ(story.lines().back().text,
              fmt::format("WRITE completes, but {} of its bytes are not in place", left));
    EXPECT_TRUE(story.lines().back().is_clue);
  }
}

TEST_F(StoryTest, TellsOfMessages) {
  const fabric::WorkRequest send{.opcode = fabric::Opcode::send, .length_bytes = 8};
  fabric::WorkRequest datagram = send;
  datagram.destination.queue_pair_number = 2;
  EXPECT_EQ(
      told({.kind = EventKind::message_delivered, .subject = 1, .data = word_, .posted = &send}),
      "alice: the message arrives: 7");
  EXPECT_EQ(
      told(
          {.kind = EventKind::message_delivered, .subject = 1, .data = word_, .posted = &datagram}),
      "alice: the message to bob arrives: 7");
  EXPECT_EQ(told({.kind = EventKind::request_lost, .subject = 1, .posted = &datagram}),
            "alice: the message to bob is lost (clue)");
}

TEST_F(StoryTest, TellsThatAWriteIsOverwrittenThatNobodyHasRead) {
  EXPECT_EQ(told_of_write(1, 10), "alice: WRITE places byte 0: 7");
  EXPECT_EQ(told_of_write(1, 11), "alice: WRITE places byte 0: 7");
  EXPECT_EQ(
      told_of_write(2, 12),
      "bob: WRITE places byte 0: 7, over what alice wrote in step 11 and nobody has read (clue)");
  read(2);  // bob's own
  EXPECT_EQ(
      told_of_write(1, 13),
      "alice: WRITE places byte 0: 7, over what bob wrote in step 12 and nobody has read (clue)");
  read(2);
  EXPECT_EQ(told_of_write(2, 14), "bob: WRITE places byte 0: 7");
}

TEST_F(StoryTest, ForgetsTheWritesOfMemoryThatIsGone) {
  told_of_write(1, 10);
  story_.introduce({.kind = sim::SubjectKind::memory, .host = "server", .block = &memory_});
  EXPECT_EQ(told_of_write(2, 12), "bob: WRITE places byte 0: 7");
}

TEST_F(StoryTest, TellsThatASwapUndoesAWrite) {
  const fabric::WorkRequest swap{.opcode = fabric::Opcode::compare_and_swap,
                                 .length_bytes = 8,
                                 .compare = 3,
                                 .swap_or_add = 4};
  sim::TraceEvent event{.kind = EventKind::atomic_written,
                        .detail = static_cast<std::uint8_t>(swap.opcode),
                        .subject = 1,
                        .word = 4,
                        .previous_word = 3,
                        .posted = &swap,
                        .block = &memory_};
  EXPECT_EQ(told(event),
            "alice: CAS of byte 0: 3 becomes 4, which undoes 5, written since it read "
            "(clue)");
  memory_ = OneWord(3);
  EXPECT_EQ(told(event), "alice: CAS of byte 0: 3 becomes 4");
}

TEST_F(StoryTest, NamesTheHostThatAFaultStrikes) {
  const auto tell_fault = [&](EventKind kind, sim::FaultKind fault) {
    return told({.kind = kind, .detail = static_cast<std::uint8_t>(fault), .subject = 1});
  };
  EXPECT_EQ(tell_fault(EventKind::fault_strikes, sim::FaultKind::client_pause),
            "fault: client_pause of host 1");
  EXPECT_EQ(tell_fault(EventKind::fault, sim::FaultKind::client_pause), "");
  EXPECT_EQ(tell_fault(EventKind::fault, sim::FaultKind::latency_spike), "fault: latency_spike");
}

TEST_F(StoryTest, TellsOfClocksThatAreWrong) {
  sim::TraceEvent event{.kind = EventKind::clock_set, .subject = 1, .previous_word = 1'000'000};
  EXPECT_EQ(told(event), "");
  event.word = static_cast<std::uint64_t>(std::int64_t{-1'500});
  event.previous_word = 1'000'030;
  EXPECT_EQ(told(event), "host 1: its clock is -1500 ns off and +30 ppm fast");
}

}  // namespace
}  // namespace falafel::explorer
