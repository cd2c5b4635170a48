// The unreliable transports: their operations and their refusals. They may lose anything, so a test
// that waits for data sends it repeatedly.
#include <cstdint>
#include <optional>

#include "tests/conformance/suite.h"

namespace falafel::conformance {
namespace {

FALAFEL_CONFORMANCE_SUITE(TransportsTest);

const PairOptions unreliable_connection{
    .queue_pair = {.transport = Transport::unreliable_connection}};

std::optional<ErrorCode> error_of_posting(Link& link, const WorkRequest& request) {
  return error_of(link.queue_pair->post_send({&request, 1}));
}

TEST_P(TransportsTest, QueuePairTellsItsTransport) {
  run_pairs({}, [](Peer& client) {
    EXPECT_EQ(client.queue_pair->transport(), Transport::reliable_connection);
  });
  if (!capabilities().unreliable_connection) return;
  run_pairs(unreliable_connection, [](Peer& client) {
    EXPECT_EQ(client.queue_pair->transport(), Transport::unreliable_connection);
  });
}

// -------------------------------------------------------------------------------------------------
// UC

TEST_P(TransportsTest, UnreliableConnectionBringsNothingBack) {
  if (!capabilities().unreliable_connection) GTEST_SKIP();
  run_pairs(unreliable_connection, [](Peer& client) {
    for (const WorkRequest& request : {client.read(0, 0, 8), client.fetch_and_add(0, 0, 1),
                                       client.compare_and_swap(0, 0, 0, 1)}) {
      EXPECT_EQ(error_of_posting(client, request), ErrorCode::unsupported);
    }
    WorkRequest fenced = client.write(0, 0, 8);
    fenced.fenced = true;
    EXPECT_EQ(error_of_posting(client, fenced), ErrorCode::invalid_argument);
  });
}

// A completion releases the local buffer: what the client writes to it later must not land.
TEST_P(TransportsTest, UnreliableWriteLands) {
  if (!capabilities().unreliable_connection) GTEST_SKIP();
  run_pairs(
      unreliable_connection,
      [](Peer& client) {
        for (int i = 0; i < 10; ++i) {
          client.block().write(0, pattern(500));
          client.succeed(client.write(0, 1000, 500));
          client.block().write(0, pattern(500, 1));
        }
      },
      [](Peer& server) {
        EXPECT_TRUE(wait_until(
            server.host, [&] { return read_bytes(server.block(), 1000, 500) == pattern(500); }));
        sleep(server.host, millisecond_ns);
        EXPECT_EQ(read_bytes(server.block(), 1000, 500), pattern(500));
      });
}

TEST_P(TransportsTest, UnreliableMessageArrives) {
  if (!capabilities().unreliable_connection) GTEST_SKIP();
  run_pairs(
      unreliable_connection,
      [](Peer& client) {
        client.block().write(0, pattern(500));
        client.channel.hear();
        for (int i = 0; i < 10; ++i) {
          client.post({client.write(0, 0, 100), client.send(0, 500)});
          EXPECT_EQ(client.next_completion().status, CompletionStatus::success);
          EXPECT_EQ(client.next_completion().status, CompletionStatus::success);
        }
      },
      [](Peer& server) {
        server.post_receive(server.memory->local(1000), 500);
        server.channel.tell();
        const WorkCompletion completion = server.next_received();
        EXPECT_EQ(completion.status, CompletionStatus::success);
        EXPECT_EQ(completion.length_bytes, 500U);
        EXPECT_EQ(read_bytes(server.block(), 1000, 500), pattern(500));
      });
}

TEST_P(TransportsTest, UnreliableSenderDoesNotNoticeARefusal) {
  if (!capabilities().unreliable_connection) GTEST_SKIP();
  run_pairs(unreliable_connection, [](Peer& client) {
    client.remote_key ^= 0x5a5a5a5a;
    for (int i = 0; i < 3; ++i) client.succeed(client.write(0, 0, 8));
    sleep(client.host, millisecond_ns);
    EXPECT_EQ(client.queue_pair->state(), QueuePairState::ready);
  });
}

// -------------------------------------------------------------------------------------------------
// UD

constexpr std::uint32_t buffer_bytes = 4096;

struct DatagramLink : Link {
  explicit DatagramLink(Site& site)
      : Link(site, {.transport = Transport::unreliable_datagram}),
        memory(site.make_memory(2 * buffer_bytes)) {
    queue_pair = require(site.device.create_datagram_queue_pair(options));
  }
  void post_buffer() { post_receive(memory.local(buffer_bytes), buffer_bytes); }
  WorkRequest send_to(DatagramAddress destination, std::uint32_t length_bytes) const {
    WorkRequest request = make_request(Opcode::send, memory.local(), length_bytes);
    request.destination = destination;
    return request;
  }

  Memory memory;
};

constexpr std::uint32_t answer_mark = 0x0123'4567;

// Answers each datagram with its first word, doubled, and an immediate number, until the client
// tells that it has an answer.
void echo(Peer& server, DatagramLink& link) {
  bool is_answered = false;
  const FiberId hearing = spawn(server.host, [&] {
    server.channel.hear();
    is_answered = true;
  });
  while (!is_answered) {
    if (!link.receive_completions->wait(server.host.now_ns() + millisecond_ns)) continue;
    const WorkCompletion completion = link.next_received();
    EXPECT_EQ(completion.status, CompletionStatus::success);
    EXPECT_EQ(completion.length_bytes, datagram_header_bytes + 24U);
    EXPECT_EQ(completion.immediate, std::nullopt);
    const std::uint64_t word = link.memory.block->load(buffer_bytes + datagram_header_bytes);
    link.post_buffer();
    link.memory.block->store(0, 2 * word);
    WorkRequest answer = link.send_to(completion.source, 24);
    answer.opcode = Opcode::send_with_immediate;
    answer.immediate = answer_mark;
    EXPECT_EQ(link.execute(answer).status, CompletionStatus::success);
  }
  server.host.join(hearing);
}

// Repeats the question until there is an answer, because the network may lose either.
std::uint64_t ask(Peer& client, DatagramLink& link, DatagramAddress server, std::uint64_t word) {
  link.memory.block->store(0, word);
  link.post_buffer();
  const std::uint64_t deadline_ns = client.host.now_ns() + patience_ns;
  while (client.host.now_ns() < deadline_ns) {
    EXPECT_EQ(link.execute(link.send_to(server, 24)).status, CompletionStatus::success);
    if (!link.receive_completions->wait(client.host.now_ns() + 5 * millisecond_ns)) continue;
    const WorkCompletion completion = link.next_received();
    EXPECT_EQ(completion.status, CompletionStatus::success);
    EXPECT_EQ(completion.source, server);
    EXPECT_EQ(completion.immediate, answer_mark);
    return link.memory.block->load(buffer_bytes + datagram_header_bytes);
  }
  return 0;
}

TEST_P(TransportsTest, DatagramTellsWhereItCameFrom) {
  if (!capabilities().unreliable_datagram) GTEST_SKIP();
  run_pairs(
      {.client_count = 2},
      [](Peer& client) {
        DatagramLink link(*client.site);
        const auto number = static_cast<std::uint32_t>(client.channel.hear());
        const DatagramAddress server = require(client.site->device.resolve("server", number));
        EXPECT_EQ(ask(client, link, server, 21 + client.index), 42 + 2 * client.index);
        client.channel.tell();
      },
      [](Peer& server) {
        DatagramLink link(*server.site);
        link.post_buffer();
        server.channel.tell(link.queue_pair->number());
        echo(server, link);
      });
}

// The address of a queue pair that does not exist on the server.
DatagramAddress address_of_nobody(Peer& client) {
  return require(client.site->device.resolve("server", 0xabcdef));
}

TEST_P(TransportsTest, DatagramToNobodyIsDropped) {
  if (!capabilities().unreliable_datagram) GTEST_SKIP();
  run_pairs({}, [](Peer& client) {
    DatagramLink link(*client.site);
    const WorkRequest request = link.send_to(address_of_nobody(client), 8);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(link.execute(request).status, CompletionStatus::success);
    }
    sleep(client.host, millisecond_ns);
    EXPECT_EQ(link.queue_pair->state(), QueuePairState::ready);
  });
}

TEST_P(TransportsTest, DatagramsAreSentOnly) {
  if (!capabilities().unreliable_datagram) GTEST_SKIP();
  run_pairs({}, [](Peer& client) {
    DatagramLink link(*client.site);
    WorkRequest request = link.send_to(address_of_nobody(client), 8);
    request.fenced = true;
    EXPECT_EQ(error_of_posting(link, request), ErrorCode::invalid_argument);
    request.fenced = false;
    for (const Opcode opcode : {Opcode::read, Opcode::write, Opcode::write_with_immediate,
                                Opcode::fetch_and_add, Opcode::compare_and_swap}) {
      request.opcode = opcode;
      EXPECT_EQ(error_of_posting(link, request), ErrorCode::unsupported);
    }
  });
}

TEST_P(TransportsTest, DatagramOverOneMtuIsRefused) {
  if (!capabilities().unreliable_datagram) GTEST_SKIP();
  run_pairs({}, [](Peer& client) {
    DatagramLink link(*client.site);
    const DatagramAddress nobody = address_of_nobody(client);
    const std::uint32_t mtu_bytes = client.site->device.attributes().mtu_bytes;
    EXPECT_EQ(error_of_posting(link, link.send_to(nobody, mtu_bytes + 1)), ErrorCode::unsupported);
    EXPECT_EQ(link.execute(link.send_to(nobody, mtu_bytes)).status, CompletionStatus::success);
  });
}

TEST_P(TransportsTest, DatagramWithoutAReceiveRequestIsDropped) {
  if (!capabilities().unreliable_datagram) GTEST_SKIP();
  run_pairs(
      {},
      [](Peer& client) {
        DatagramLink link(*client.site);
        const auto number = static_cast<std::uint32_t>(client.channel.hear());
        const auto server = require(client.site->device.resolve("server", number));
        EXPECT_EQ(link.execute(link.send_to(server, 8)).status, CompletionStatus::success);
        sleep(client.host, 10 * millisecond_ns);
        client.channel.tell();
      },
      [](Peer& server) {
        DatagramLink link(*server.site);
        server.channel.tell(link.queue_pair->number());
        server.channel.hear();
        link.post_buffer();
        EXPECT_FALSE(link.receive_completions->wait(server.host.now_ns() + millisecond_ns));
      });
}

TEST_P(TransportsTest, UnknownHostCannotBeResolved) {
  if (!capabilities().unreliable_datagram) GTEST_SKIP();
  run_alone([](Host& host) {
    EXPECT_EQ(error_of(host.device(0).resolve("nowhere", 1)), ErrorCode::unreachable);
  });
}

TEST_P(TransportsTest, ConnectingIsForConnectionsAndDatagramsAreNot) {
  run_alone([](Host& host) {
    Site site(host);
    const Link datagram(site, {.transport = Transport::unreliable_datagram});
    const Link connection(site, {.transport = Transport::reliable_connection});
    EXPECT_TRUE(error_of(site.device.connect({"host", 1}, datagram.options, {}, never_ns)));
    EXPECT_TRUE(error_of(site.device.create_datagram_queue_pair(connection.options)));
  });
}

}  // namespace
}  // namespace falafel::conformance
