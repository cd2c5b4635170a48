// Order on one queue pair: tests each cell of the table in fabric/fabric.h that says "ordered", and
// each that says "fence" with a fence. Cells without a guarantee are not tested, because both
// outcomes are correct.
#include <cstdint>

#include "tests/conformance/suite.h"

namespace falafel::conformance {
namespace {

FALAFEL_CONFORMANCE_SUITE(OrderingTest);

constexpr std::uint32_t data_bytes = 200;
constexpr std::uint64_t data_offset = 1024;  // in the server's memory
constexpr std::uint64_t flag_offset = 2048;
constexpr std::uint64_t source_offset = 3072;  // in the client's memory
constexpr std::uint64_t one_offset = 4096;     // a word that is 1
constexpr std::uint64_t message_offset = 4096;
constexpr std::uint64_t result_offset = 5120;

void expect_successes(Peer& client, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    EXPECT_EQ(client.next_completion().status, CompletionStatus::success);
  }
}

// Weaker orders of the server's region leave what completions mean: a READ that is posted after one
// finds the WRITE, and a message shows the WRITEs before it.
void use_weak_region(Peer& client) {
  client.channel.hear();
  client.block().write(source_offset, pattern(data_bytes, 1));
  client.succeed(client.write(source_offset, data_offset, data_bytes));
  EXPECT_EQ(client.fetch(data_offset, data_bytes), pattern(data_bytes, 1));
  client.block().write(source_offset, pattern(data_bytes, 2));
  client.post({client.write(source_offset, data_offset, data_bytes),
               client.send(source_offset, word_bytes)});
  expect_successes(client, 2);
}

void weaken_region(Peer& server, const Access& access) {
  const Result<void> changed = server.memory->region->change_access(access);
  const Access expected = changed ? access : all_rights;
  EXPECT_EQ(server.memory->region->access(), expected);
  EXPECT_TRUE(changed || changed.error().code == ErrorCode::unsupported);
}

TEST_P(OrderingTest, WeakRegionsKeepTheMeaningOfCompletions) {
  Access relaxed = all_rights;
  relaxed.relaxed_ordering = true;
  Access unordered = all_rights;
  unordered.unordered = true;
  for (const Access& access : {relaxed, unordered}) {
    run_pairs({}, use_weak_region, [access](Peer& server) {
      weaken_region(server, access);
      server.post_receive(server.memory->local(message_offset), word_bytes);
      server.channel.tell();
      EXPECT_EQ(server.next_received().status, CompletionStatus::success);
      EXPECT_EQ(read_bytes(server.block(), data_offset, data_bytes), pattern(data_bytes, 2));
    });
  }
}

// -------------------------------------------------------------------------------------------------
// The first changes the data, the second raises the flag: who sees the flag sees the data.

WorkRequest data_request(const Peer& client, Opcode opcode) {
  return opcode == Opcode::send ? client.send(source_offset, data_bytes)
                                : client.write(source_offset, data_offset, data_bytes);
}

WorkRequest flag_request(const Peer& client, Opcode opcode) {
  switch (opcode) {
    case Opcode::write: return client.write(one_offset, flag_offset, word_bytes);
    case Opcode::fetch_and_add: return client.fetch_and_add(result_offset, flag_offset, 1);
    case Opcode::compare_and_swap: return client.compare_and_swap(result_offset, flag_offset, 0, 1);
    default: return client.send(one_offset, word_bytes);
  }
}

// The message with the data lands at `data_offset`, and the one with the flag at `message_offset`.
void prepare_receives(Peer& server, Opcode first) {
  if (first == Opcode::send) server.post_receive(server.memory->local(data_offset), data_bytes);
  server.post_receive(server.memory->local(message_offset), word_bytes);
}

void await_flag(Peer& server, Opcode first, Opcode second) {
  if (second == Opcode::send) {
    if (first == Opcode::send) server.next_received();
    EXPECT_EQ(server.next_received().status, CompletionStatus::success);
    return;
  }
  EXPECT_TRUE(wait_until(server.host, [&] { return server.block().load(flag_offset) != 0; }));
}

void expect_ordered(const ConformanceTest& test, Opcode first, Opcode second) {
  const PeerBody client_body = [=](Peer& client) {
    client.block().write(source_offset, pattern(data_bytes));
    client.block().store(one_offset, 1);
    client.channel.hear();
    client.post({data_request(client, first), flag_request(client, second)});
    expect_successes(client, 2);
  };
  const PeerBody server_body = [=](Peer& server) {
    prepare_receives(server, first);
    server.channel.tell();
    await_flag(server, first, second);
    EXPECT_EQ(read_bytes(server.block(), data_offset, data_bytes), pattern(data_bytes));
  };
  test.run_pairs({}, client_body, server_body);
}

TEST_P(OrderingTest, WriteThenWrite) { expect_ordered(*this, Opcode::write, Opcode::write); }

TEST_P(OrderingTest, WriteThenAtomic) {
  expect_ordered(*this, Opcode::write, Opcode::fetch_and_add);
  expect_ordered(*this, Opcode::write, Opcode::compare_and_swap);
}

TEST_P(OrderingTest, WriteThenSend) { expect_ordered(*this, Opcode::write, Opcode::send); }

TEST_P(OrderingTest, SendThenWrite) { expect_ordered(*this, Opcode::send, Opcode::write); }

TEST_P(OrderingTest, SendThenAtomic) {
  expect_ordered(*this, Opcode::send, Opcode::fetch_and_add);
  expect_ordered(*this, Opcode::send, Opcode::compare_and_swap);
}

TEST_P(OrderingTest, SendThenSend) { expect_ordered(*this, Opcode::send, Opcode::send); }

// -------------------------------------------------------------------------------------------------
// A READ after what changes memory

TEST_P(OrderingTest, WriteThenRead) {
  run_pairs({}, [](Peer& client) {
    client.block().write(source_offset, pattern(data_bytes));
    client.post({client.write(source_offset, data_offset, data_bytes),
                 client.read(result_offset, data_offset, data_bytes)});
    expect_successes(client, 2);
    EXPECT_EQ(read_bytes(client.block(), result_offset, data_bytes), pattern(data_bytes));
  });
}

TEST_P(OrderingTest, SendThenRead) {
  run_pairs(
      {},
      [](Peer& client) {
        client.block().write(source_offset, pattern(data_bytes));
        client.channel.hear();
        client.post({client.send(source_offset, data_bytes),
                     client.read(result_offset, data_offset, data_bytes)});
        expect_successes(client, 2);
        EXPECT_EQ(read_bytes(client.block(), result_offset, data_bytes), pattern(data_bytes));
      },
      [](Peer& server) {
        server.post_receive(server.memory->local(data_offset), data_bytes);
        server.channel.tell();
      });
}

TEST_P(OrderingTest, AtomicThenRead) {
  run_pairs({}, [](Peer& client) {
    client.post({client.fetch_and_add(0, 64, 5), client.read(8, 64, word_bytes),
                 client.compare_and_swap(16, 72, 0, 6), client.read(24, 72, word_bytes)});
    expect_successes(client, 4);
    EXPECT_EQ(client.block().load(8), 5U);
    EXPECT_EQ(client.block().load(24), 6U);
  });
}

TEST_P(OrderingTest, WritesOfOneWordEndWithTheLast) {
  run_pairs({}, [](Peer& client) {
    std::vector<WorkRequest> chain;
    for (std::uint64_t i = 1; i <= 8; ++i) {
      client.block().store(i * word_bytes, i);
      chain.push_back(client.write(i * word_bytes, 0, word_bytes));
    }
    chain.push_back(client.fetch_and_add(0, 0, 1));
    client.post(chain);
    expect_successes(client, chain.size());
    EXPECT_EQ(client.block().load(0), 8U);
    EXPECT_EQ(client.fetch_word(0), 9U);
  });
}

// -------------------------------------------------------------------------------------------------
// The fence

WorkRequest fenced(WorkRequest request) {
  request.fenced = true;
  return request;
}

// A long READ, followed by a change of its source: the READ must not see any of the change.
void expect_old_data(Peer& client, const WorkRequest& change) {
  client.post({client.read(0, 0, 1000), fenced(change)});
  expect_successes(client, 2);
  EXPECT_EQ(read_bytes(client.block(), 0, 1000), std::vector<std::byte>(1000));
}

TEST_P(OrderingTest, ReadThenFencedWrite) {
  run_pairs({}, [](Peer& client) {
    client.block().write(source_offset, pattern(1000));
    expect_old_data(client, client.write(source_offset, 0, 1000));
    EXPECT_EQ(client.fetch(0, 1000), pattern(1000));
  });
}

TEST_P(OrderingTest, ReadThenFencedAtomic) {
  run_pairs({}, [](Peer& client) {
    expect_old_data(client, client.fetch_and_add(2000, 992, 1));
    client.block().write(source_offset, std::vector<std::byte>(8));
    client.succeed(client.write(source_offset, 992, 8));
    expect_old_data(client, client.compare_and_swap(2000, 496, 0, 1));
    EXPECT_EQ(client.fetch_word(496), 1U);
  });
}

TEST_P(OrderingTest, ReadThenFencedSend) {
  run_pairs(
      {},
      [](Peer& client) {
        client.channel.hear();
        expect_old_data(client, client.send(source_offset, 8));
      },
      [](Peer& server) {
        server.post_receive(server.memory->local(message_offset), 8);
        server.channel.tell();
        server.next_received();
        server.block().write(0, pattern(1000));
      });
}

TEST_P(OrderingTest, AtomicThenFencedWrite) {
  run_pairs({}, [](Peer& client) {
    client.block().store(one_offset, 100);
    client.post({client.fetch_and_add(0, 64, 1), client.compare_and_swap(8, 72, 0, 1),
                 fenced(client.write(one_offset, 64, 8)), client.write(one_offset, 72, 8)});
    expect_successes(client, 4);
    EXPECT_EQ(client.block().load(0), 0U);
    EXPECT_EQ(client.block().load(8), 0U);
    EXPECT_EQ(client.fetch_word(64), 100U);
    EXPECT_EQ(client.fetch_word(72), 100U);
  });
}

TEST_P(OrderingTest, AtomicThenFencedAtomic) {
  run_pairs({}, [](Peer& client) {
    client.post({client.compare_and_swap(0, 64, 0, 1), fenced(client.fetch_and_add(8, 64, 1)),
                 fenced(client.compare_and_swap(16, 64, 2, 3))});
    expect_successes(client, 3);
    EXPECT_EQ(client.block().load(0), 0U);
    EXPECT_EQ(client.block().load(8), 1U);
    EXPECT_EQ(client.block().load(16), 2U);
    EXPECT_EQ(client.fetch_word(64), 3U);
  });
}

TEST_P(OrderingTest, AtomicThenFencedSend) {
  run_pairs(
      {},
      [](Peer& client) {
        client.channel.hear();
        client.post({client.fetch_and_add(0, 0, 1), fenced(client.send(source_offset, 8))});
        expect_successes(client, 2);
      },
      [](Peer& server) {
        server.post_receive(server.memory->local(message_offset), 8);
        server.channel.tell();
        server.next_received();
        EXPECT_EQ(server.block().load(0), 1U);
      });
}

// The fence waits for all earlier READs, not only for the previous one.
TEST_P(OrderingTest, FenceWaitsForAllThatReturnData) {
  run_pairs({}, [](Peer& client) {
    client.block().store(one_offset, 1);
    client.post({client.read(0, 512, 512), client.fetch_and_add(512, 1024, 0),
                 client.read(1024, 0, 8), fenced(client.write(one_offset, 512 + 256, 8))});
    expect_successes(client, 4);
    EXPECT_EQ(read_bytes(client.block(), 0, 512), std::vector<std::byte>(512));
    EXPECT_EQ(client.fetch_word(512 + 256), 1U);
  });
}

}  // namespace
}  // namespace falafel::conformance
