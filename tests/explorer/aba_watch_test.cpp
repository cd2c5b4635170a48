// Worlds that forbid ABA: which accesses count as reads, changes and swaps of a word, and whose
// they are. In each script, a slow client reads a word, a quick one changes it and changes it back,
// and the slow one swaps it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "explorer/check.h"

namespace falafel::check {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t head = 64;
constexpr std::string_view aba_property = "aba";

using Step = std::function<void(RemoteMemory&)>;
using ProcessorStep = std::function<void(fabric::MemoryBlock&)>;

// The parts of a script run one after the other, whatever the schedule.
class Turns {
 public:
  void wait_for(int turn, fabric::Host& host) const {
    while (turn_ != turn) host.yield();
  }
  void end() { ++turn_; }

 private:
  int turn_ = 0;
};

struct Script {
  Step read = [](RemoteMemory& memory) { memory.read(head); };
  Step change = [](RemoteMemory&) {};
  ProcessorStep change_by_server = [](fabric::MemoryBlock&) {};
  Step swap = [](RemoteMemory& memory) { memory.compare_and_swap(head, 0, 5); };
  bool swaps_on_another_connection = false;
  bool permits_undone_swaps = false;
  std::uint64_t watched = head;
};

void play(World& world, const Script& script) {
  Turns turns;
  world.name(head, fabric::word_bytes, "head");
  world.forbid_aba(script.watched);
  if (script.permits_undone_swaps) world.permit_undone_swaps();
  world.server("server", [&](fabric::Host& host) {
    MemoryServer server(host, 256);
    host.spawn({.name = "owner", .daemon = true}, [&turns, &script, &host, &server] {
      turns.wait_for(2, host);
      script.change_by_server(*server.memory());
      turns.end();
    });
    server.serve();
  });
  world.client("slow", [&](fabric::Host& host) {
    RemoteMemory memory(host, "server");
    RemoteMemory other(host, "server");
    script.read(memory);
    turns.end();
    turns.wait_for(3, host);
    script.swap(script.swaps_on_another_connection ? other : memory);
  });
  world.client("quick", [&](fabric::Host& host) {
    RemoteMemory memory(host, "server");
    turns.wait_for(1, host);
    script.change(memory);
    turns.end();
  });
  world.run();
}

// The explanation of the violation; empty if the script holds.
std::string violation_of(const Script& script) {
  const Options options{.name = "aba",
                        .schedules = 20,
                        .shrink_seconds = 0,
                        .output = testing::TempDir() + "aba_watch_test"};
  const Result result = run_campaign(
      WorldProgram(options.name, options.network, [&](World& world) { play(world, script); }),
      options, {});
  if (result.holds()) return {};
  EXPECT_EQ(result.failures.size(), 1U) << result.story();
  EXPECT_EQ(result.failures.front().property, aba_property) << result.story();
  return result.failures.front().explanation;
}

void swap_there_and_back(RemoteMemory& memory) {
  memory.compare_and_swap(head, 0, 1);
  memory.compare_and_swap(head, 1, 0);
}

TEST(AbaWatch, FindsAWordThatWasSwappedThereAndBack) {
  const std::string explanation = violation_of({.change = swap_there_and_back});
  EXPECT_THAT(explanation,
              HasSubstr("slow replaced the word 0000000000000000 of head, which it had "
                        "read 2 changes earlier; the word has since changed"));
}

TEST(AbaWatch, PermitsUndoneSwapsIfAsked) {
  EXPECT_EQ(violation_of({.change = swap_there_and_back, .permits_undone_swaps = true}), "");
  const Step by_two_words = [](RemoteMemory& memory) {
    memory.compare_and_swap(head, 0, 1);
    memory.compare_and_swap(head, 1, 2);
    memory.compare_and_swap(head, 2, 0);
  };
  EXPECT_NE(violation_of({.change = by_two_words, .permits_undone_swaps = true}), "");
}

TEST(AbaWatch, AcceptsASwapOfWhatWasRead) { EXPECT_EQ(violation_of({}), ""); }

// The WRITE may land between the comparison and the swap, and be lost. That is a mistake, but not
// this one.
TEST(AbaWatch, AcceptsASwapOfAWordThatDidNotComeBack) {
  EXPECT_EQ(violation_of({.change = [](RemoteMemory& memory) { memory.write(head, 7); }}), "");
}

TEST(AbaWatch, LooksAtTheNamedWordsOnly) {
  EXPECT_EQ(violation_of({.change = swap_there_and_back, .watched = head + 8}), "");
}

TEST(AbaWatch, RefusesPartsOfWords) {
  const Options options{.name = "aba parts",
                        .schedules = 1,
                        .shrink_seconds = 0,
                        .output = testing::TempDir() + "aba_watch_test"};
  const auto message_of = [&](std::uint64_t offset, std::uint64_t length_bytes) {
    const Result result =
        run_campaign(WorldProgram(options.name, options.network,
                                  [&](World& world) { world.forbid_aba(offset, length_bytes); }),
                     options, {});
    return result.holds() ? std::string() : result.failures.front().explanation;
  };
  EXPECT_THAT(message_of(4, 8), HasSubstr("bytes 4..+8 are not whole words; use multiples of 8"));
  EXPECT_THAT(message_of(8, 12), HasSubstr("bytes 8..+12 are not whole words"));
  EXPECT_THAT(message_of(8, 0), HasSubstr("bytes 8..+0 are not whole words"));
}

TEST(AbaWatch, SeesWritesAndAdditions) {
  EXPECT_NE(violation_of({.change =
                              [](RemoteMemory& memory) {
                                memory.write(head, 1);
                                memory.write(head, 0);
                              }}),
            "");
  EXPECT_NE(violation_of({.change =
                              [](RemoteMemory& memory) {
                                memory.fetch_and_add(head, 1);
                                memory.fetch_and_add(head, ~std::uint64_t{0});
                              }}),
            "");
}

TEST(AbaWatch, SeesAWriteOfAPartOfTheWord) {
  EXPECT_NE(violation_of({.change =
                              [](RemoteMemory& memory) {
                                const std::byte one[] = {std::byte{1}};
                                const std::byte zero[] = {std::byte{0}};
                                memory.write(head + 3, one);
                                memory.write(head + 3, zero);
                              }}),
            "");
}

TEST(AbaWatch, SeesTheProcessor) {
  EXPECT_NE(violation_of({.change_by_server =
                              [](fabric::MemoryBlock& memory) {
                                memory.store(head, 1);
                                memory.store(head, 0);
                              }}),
            "");
  EXPECT_NE(violation_of({.change_by_server =
                              [](fabric::MemoryBlock& memory) {
                                memory.compare_and_swap(head, 0, 1);
                                memory.compare_and_swap(head, 1, 0);
                              }}),
            "");
}

TEST(AbaWatch, JudgesSwapsOfTheProcessor) {
  Script script;
  script.change = swap_there_and_back;
  script.change_by_server = [](fabric::MemoryBlock& memory) {
    memory.compare_and_swap(head, 0, 3);  // blindly, which is not judged
    memory.store(head, 0);
  };
  script.swap = [](RemoteMemory&) {};
  EXPECT_EQ(violation_of(script), "");
  script.change_by_server = [](fabric::MemoryBlock& memory) {
    memory.load(head);
    memory.compare_and_swap(head, 0, 3);
  };
  EXPECT_EQ(violation_of(script), "") << "it has read the word since";
}

TEST(AbaWatch, AcceptsAWordThatIsWrittenAgainUnchanged) {
  EXPECT_EQ(violation_of({.change = [](RemoteMemory& memory) { memory.write(head, 0); }}), "");
}

TEST(AbaWatch, CountsAFailedSwapAsARead) {
  Script script;
  script.read = [](RemoteMemory& memory) { memory.compare_and_swap(head, 9, 1); };
  EXPECT_EQ(violation_of(script), "");
  script.change = swap_there_and_back;
  EXPECT_NE(violation_of(script), "");
  script.swap = [](RemoteMemory& memory) {
    memory.compare_and_swap(head, 9, 1);
    memory.compare_and_swap(head, 0, 5);
  };
  EXPECT_EQ(violation_of(script), "") << "it has seen the word since";
}

TEST(AbaWatch, KnowsAFiberByAllItsConnections) {
  EXPECT_NE(violation_of({.change = swap_there_and_back, .swaps_on_another_connection = true}), "");
}

}  // namespace
}  // namespace falafel::check
