// READ and WRITE transfer exactly the requested bytes, at any size and alignment.
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "tests/conformance/suite.h"

namespace falafel::conformance {
namespace {

FALAFEL_CONFORMANCE_SUITE(DataTransferTest);

constexpr std::array<std::uint32_t, 9> sizes_bytes{0, 1, 7, 8, 9, 64, 4096, 4097, 65536};
constexpr std::uint64_t near_offset = 70'003;  // above what fetch() overwrites
constexpr std::uint64_t far_offset = 5;
constexpr std::uint64_t memory_bytes = 2 * 70'000;

// `data` with a zero byte before and after it.
std::vector<std::byte> framed(const std::vector<std::byte>& data) {
  std::vector<std::byte> frame(data.size() + 2);
  std::copy(data.begin(), data.end(), frame.begin() + 1);
  return frame;
}

TEST_P(DataTransferTest, WriteChangesItsRangeAndNothingElse) {
  run_pairs({.memory_bytes = memory_bytes}, [](Peer& client) {
    for (const std::uint32_t size_bytes : sizes_bytes) {
      const auto data = pattern(size_bytes, static_cast<std::uint8_t>(size_bytes % 100));
      client.block().write(near_offset, data);
      client.succeed(client.write(near_offset, far_offset, size_bytes));
      EXPECT_EQ(client.fetch(far_offset - 1, size_bytes + 2), framed(data));
    }
  });
}

TEST_P(DataTransferTest, ReadFetchesItsRangeAndNothingElse) {
  run_pairs(
      {.memory_bytes = memory_bytes},
      [](Peer& client) {
        client.channel.hear();
        for (const std::uint32_t size_bytes : sizes_bytes) {
          client.succeed(client.read(near_offset, far_offset, size_bytes));
          EXPECT_EQ(read_bytes(client.block(), near_offset - 1, size_bytes + 2),
                    framed(pattern(size_bytes)));
        }
      },
      [](Peer& server) {
        server.block().write(far_offset, pattern(65536));
        server.channel.tell();
      });
}

TEST_P(DataTransferTest, BufferIsFreeOnCompletion) {
  run_pairs({}, [](Peer& client) {
    client.block().write(1000, pattern(500));
    client.succeed(client.write(1000, 0, 500));
    client.block().write(1000, std::vector<std::byte>(500));
    EXPECT_EQ(client.fetch(0, 500), pattern(500));
  });
}

TEST_P(DataTransferTest, CompletionTellsWhatWasDone) {
  run_pairs({}, [](Peer& client) {
    for (WorkRequest request : {client.read(0, 0, 16), client.write(0, 0, 16)}) {
      request.id = 0xfeed'0000'0000'0001;
      const WorkCompletion completion = client.execute(request);
      EXPECT_EQ(completion.id, request.id);
      EXPECT_EQ(completion.opcode, request.opcode);
      EXPECT_EQ(completion.queue_pair_number, client.queue_pair->number());
    }
  });
}

// Words are aligned in memory, regardless of where a transfer begins.
constexpr std::uint64_t first_word = 8;
constexpr std::uint64_t end_of_words = 64;

struct Range {
  std::uint64_t offset;
  std::uint32_t length_bytes;
};

Range range_with_words(const Capabilities& capabilities) {
  if (capabilities.whole_words_anywhere) return {3, 66};
  return {first_word, end_of_words - first_word};
}

TEST_P(DataTransferTest, AlignedWordsAreReadWhole) {
  constexpr std::uint64_t left = 0x1111'1111'1111'1111;
  constexpr std::uint64_t right = 0xeeee'eeee'eeee'eeee;
  const Range range = range_with_words(capabilities());
  run_pairs(
      {},
      [range](Peer& client) {
        for (int i = 0; i < 10; ++i) {
          client.succeed(client.read(range.offset, range.offset, range.length_bytes));
          for (std::uint64_t offset = first_word; offset < end_of_words; offset += word_bytes) {
            const std::uint64_t word = client.block().load(offset);
            EXPECT_TRUE(word == 0 || word == left || word == right) << std::hex << word;
          }
        }
      },
      [](Peer& server) {
        for (std::uint64_t i = 0; i < 80; ++i) {
          server.block().store(i % 8 * word_bytes, i % 16 < 8 ? left : right);
          sleep(server.host, 1 + server.host.random(microsecond_ns));
        }
      });
}

TEST_P(DataTransferTest, AlignedWordsAreWrittenWhole) {
  const Range range = range_with_words(capabilities());
  run_pairs(
      {},
      [range](Peer& client) {
        for (std::uint8_t i = 0; i < 10; ++i) {
          client.block().write(range.offset,
                               std::vector<std::byte>(range.length_bytes, std::byte{i}));
          client.succeed(client.write(range.offset, range.offset, range.length_bytes));
        }
        client.block().store(first_word, ~std::uint64_t{0});  // tells the server to stop
        client.succeed(client.write(first_word, first_word, word_bytes));
      },
      [](Peer& server) {
        const bool stopped = wait_until(server.host, [&] {
          for (std::uint64_t offset = first_word; offset < end_of_words; offset += word_bytes) {
            const std::uint64_t word = server.block().load(offset);
            EXPECT_EQ(word, word % 256 * 0x0101'0101'0101'0101) << std::hex << word;
          }
          return server.block().load(first_word) == ~std::uint64_t{0};
        });
        EXPECT_TRUE(stopped);
      });
}

constexpr std::uint64_t inlined_offset = 371;

TEST_P(DataTransferTest, InlinedDataIsFreeAtOnce) {
  if (!capabilities().inlines_data) GTEST_SKIP();
  run_pairs({.queue_pair = {.max_inline_bytes = 24}}, [](Peer& client) {
    for (const std::uint32_t size_bytes : {1U, 8U, 24U}) {
      client.block().write(inlined_offset, pattern(size_bytes));
      WorkRequest request = client.write(inlined_offset, 0, size_bytes);
      request.inlined = true;
      client.post({request});
      client.block().write(inlined_offset, std::vector<std::byte>(size_bytes));
      EXPECT_EQ(client.next_completion().status, CompletionStatus::success);
      EXPECT_EQ(client.fetch(0, size_bytes), pattern(size_bytes));
    }
  });
}

// -------------------------------------------------------------------------------------------------
// Local buffers

TEST_P(DataTransferTest, InlinedDataKeepsTheRules) {
  if (!capabilities().inlines_data) GTEST_SKIP();
  run_pairs({.queue_pair = {.max_inline_bytes = 24}}, [](Peer& client) {
    WorkRequest request = client.write(0, 0, 25);
    request.inlined = true;
    EXPECT_EQ(error_of_posting(client, request), ErrorCode::invalid_argument);
    request = client.read(0, 0, 8);
    request.inlined = true;
    EXPECT_EQ(error_of_posting(client, request), ErrorCode::invalid_argument);
    request = client.write(0, 0, 8);
    request.inlined = true;
    request.local.key ^= 0x5a5a5a5a;
    EXPECT_EQ(error_of_posting(client, request), ErrorCode::access_denied);
    client.succeed(client.write(0, 0, 25));
  });
}

TEST_P(DataTransferTest, LocalBufferOutOfBoundsIsRefused) {
  run_pairs({.memory_bytes = 4096}, [](Peer& client) {
    for (const std::uint64_t offset : {std::uint64_t{4089}, std::uint64_t{4096}, never_ns - 3}) {
      EXPECT_EQ(error_of_posting(client, client.read(offset, 0, 8)), ErrorCode::out_of_bounds);
      EXPECT_EQ(error_of_posting(client, client.write(offset, 0, 8)), ErrorCode::out_of_bounds);
      EXPECT_EQ(error_of_posting(client, client.send(offset, 8)), ErrorCode::out_of_bounds);
      const ReceiveRequest receive{.local = client.memory->local(offset), .length_bytes = 8};
      EXPECT_EQ(error_of(client.queue_pair->post_receive({&receive, 1})), ErrorCode::out_of_bounds);
    }
    client.succeed(client.read(4088, 0, 8));  // the failed request has not harmed the queue pair
  });
}

// The bounds of the region apply, not those of its block; offsets count from the start of the
// block.
TEST_P(DataTransferTest, LocalBufferStaysWithinItsRegion) {
  run_pairs({}, [](Peer& client) {
    const auto part = require(
        client.site->protection_domain->register_memory(client.memory->block, 64, 64, all_rights));
    WorkRequest request = client.write(0, 0, 8);
    request.local.key = part->local_key();
    for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{60}, std::uint64_t{124}}) {
      request.local.offset = offset;
      EXPECT_EQ(error_of_posting(client, request), ErrorCode::out_of_bounds);
    }
    client.block().store(120, 42);
    request.local.offset = 120;
    client.succeed(request);
    EXPECT_EQ(client.fetch_word(0), 42U);
  });
}

TEST_P(DataTransferTest, LocalBufferNeedsTheRightToBeWritten) {
  run_pairs({}, [](Peer& client) {
    const Memory constant = client.site->make_memory(4096, {.remote_read = true});
    for (WorkRequest request : {client.read(0, 0, 8), client.fetch_and_add(0, 0, 1),
                                client.compare_and_swap(0, 0, 0, 1)}) {
      request.local = constant.local();
      EXPECT_EQ(error_of_posting(client, request), ErrorCode::access_denied);
    }
    const ReceiveRequest receive{.local = constant.local(), .length_bytes = 8};
    EXPECT_EQ(error_of(client.queue_pair->post_receive({&receive, 1})), ErrorCode::access_denied);

    constant.block->store(0, 17);
    WorkRequest write = client.write(0, 0, 8);
    write.local = constant.local();
    client.succeed(write);
    EXPECT_EQ(client.fetch_word(0), 17U);
  });
}

TEST_P(DataTransferTest, LocalBufferBelongsToTheProtectionDomain) {
  run_pairs({}, [](Peer& client) {
    Site elsewhere(client.host);
    const Memory memory = elsewhere.make_memory(4096);
    WorkRequest request = client.read(0, 0, 8);
    request.local = memory.local();
    EXPECT_EQ(error_of_posting(client, request), ErrorCode::access_denied);
  });
}

}  // namespace
}  // namespace falafel::conformance
