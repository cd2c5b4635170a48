// Gather and scatter lists: a request whose local buffer consists of several segments.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/conformance/suite.h"

namespace falafel::conformance {
namespace {

FALAFEL_CONFORMANCE_SUITE(SegmentsTest);

constexpr std::uint32_t list_length = 4;
const PairOptions with_segments{.queue_pair = {.max_inline_bytes = 0,
                                               .max_send_segments = list_length,
                                               .max_receive_segments = list_length},
                                .memory_bytes = 32'768};

struct Piece {
  std::uint64_t offset;
  std::uint32_t length_bytes;
};

// Pieces of a peer's memory as a list of segments. The list belongs to the test.
std::vector<LocalSegment> list_of(const Peer& peer, const std::vector<Piece>& pieces) {
  std::vector<LocalSegment> list;
  for (const Piece& piece : pieces) {
    list.push_back(
        {.address = peer.memory->local(piece.offset), .length_bytes = piece.length_bytes});
  }
  return list;
}

std::uint32_t sum_of(const std::vector<LocalSegment>& list) {
  std::uint32_t sum_bytes = 0;
  for (const LocalSegment& segment : list) sum_bytes += segment.length_bytes;
  return sum_bytes;
}

WorkRequest with_list(WorkRequest request, const std::vector<LocalSegment>& list) {
  request.segments = list;
  request.length_bytes = sum_of(list);
  request.local = {};
  return request;
}

// Unaligned, out of order, shorter and longer than a packet.
const std::vector<Piece> pieces{{20'003, 1}, {9, 700}, {9'001, 5'000}, {1'000, 33}};

std::vector<std::byte> content_of(Peer& peer, const std::vector<Piece>& from) {
  std::vector<std::byte> content;
  for (const Piece& piece : from) {
    const auto bytes = read_bytes(peer.block(), piece.offset, piece.length_bytes);
    content.insert(content.end(), bytes.begin(), bytes.end());
  }
  return content;
}

// A part of pattern().
std::vector<std::byte> pattern_at(std::size_t offset, std::size_t length_bytes) {
  const auto all = pattern(offset + length_bytes);
  return {all.begin() + static_cast<std::ptrdiff_t>(offset), all.end()};
}

constexpr std::uint64_t far_offset = 3;
constexpr std::uint32_t all_bytes = 1 + 700 + 5'000 + 33;

TEST_P(SegmentsTest, WriteGathersThem) {
  run_pairs(with_segments, [](Peer& client) {
    client.block().write(0, pattern(30'000));
    const auto expected = content_of(client, pieces);
    client.succeed(with_list(client.write(0, far_offset, 0), list_of(client, pieces)));
    EXPECT_EQ(client.fetch(far_offset, all_bytes), expected);
    EXPECT_EQ(client.fetch(far_offset + all_bytes, 100), std::vector<std::byte>(100));
  });
}

TEST_P(SegmentsTest, ReadFillsThemAndNothingElse) {
  run_pairs(
      with_segments,
      [](Peer& client) {
        client.channel.hear();
        client.succeed(with_list(client.read(0, far_offset, 0), list_of(client, pieces)));
        EXPECT_EQ(content_of(client, pieces), pattern(all_bytes));
        for (const Piece& piece : pieces) {
          EXPECT_EQ(read_bytes(client.block(), piece.offset - 1, 1), std::vector<std::byte>(1));
          EXPECT_EQ(read_bytes(client.block(), piece.offset + piece.length_bytes, 1),
                    std::vector<std::byte>(1));
        }
      },
      [](Peer& server) {
        server.block().write(far_offset, pattern(all_bytes));
        server.channel.tell();
      });
}

// Either side has its own list.
TEST_P(SegmentsTest, MessageIsGatheredAndScattered) {
  const std::vector<Piece> there{{31, 1'000}, {12'000, 2}, {20'000, 6'000}};
  run_pairs(
      with_segments,
      [](Peer& client) {
        client.block().write(0, pattern(30'000));
        const auto list = list_of(client, pieces);
        client.succeed(with_list(client.send(0, 0), list));
        client.succeed(client.send(0, 1'001));
      },
      [&there](Peer& server) {
        const auto list = list_of(server, there);
        const ReceiveRequest receive{.id = 1, .length_bytes = sum_of(list), .segments = list};
        require(server.queue_pair->post_receive({&receive, 1}));
        EXPECT_EQ(server.next_received().length_bytes, all_bytes);
        const auto received = content_of(server, there);
        EXPECT_EQ(std::vector(received.begin(), received.begin() + 1), pattern_at(20'003, 1));
        EXPECT_EQ(std::vector(received.begin() + 1, received.begin() + 701), pattern_at(9, 700));
        EXPECT_EQ(std::vector(received.begin() + 701, received.begin() + 5'701),
                  pattern_at(9'001, 5'000));
        EXPECT_EQ(read_bytes(server.block(), 20'000 + (all_bytes - 1'002), 100),
                  std::vector<std::byte>(100));

        require(server.queue_pair->post_receive({&receive, 1}));
        EXPECT_EQ(server.next_received().length_bytes, 1'001U) << "the second segment has one byte";
        EXPECT_EQ(read_bytes(server.block(), 31, 1'000), pattern_at(0, 1'000));
        EXPECT_EQ(read_bytes(server.block(), 12'000, 1), pattern_at(1'000, 1));
      });
}

TEST_P(SegmentsTest, InlineDataIsGatheredWhilePosting) {
  if (!capabilities().inlines_data) GTEST_SKIP();
  PairOptions options = with_segments;
  options.queue_pair.max_inline_bytes = 24;
  run_pairs(options, [](Peer& client) {
    client.block().write(0, pattern(64));
    const auto list = list_of(client, {{40, 11}, {3, 13}});
    WorkRequest request = with_list(client.write(0, far_offset, 0), list);
    request.inlined = true;
    client.post({request});
    client.block().write(0, std::vector<std::byte>(64));
    EXPECT_EQ(client.next_completion().status, CompletionStatus::success);
    auto expected = pattern_at(40, 11);
    const auto rest = pattern_at(3, 13);
    expected.insert(expected.end(), rest.begin(), rest.end());
    EXPECT_EQ(client.fetch(far_offset, 24), expected);
  });
}

// A request that waits does not need the program's list any more.
TEST_P(SegmentsTest, ListIsCopiedWhilePosting) {
  run_pairs(
      with_segments,
      [](Peer& client) {
        client.block().store(8, 11);
        client.block().store(64, 22);
        {
          auto list = list_of(client, {{8, 8}, {64, 8}});
          client.post({with_list(client.send(0, 0), list)});
          list.assign(2, LocalSegment{.address = {.key = 1, .offset = 7}, .length_bytes = 9});
        }
        client.channel.tell();
        EXPECT_EQ(client.next_completion().status, CompletionStatus::success);
      },
      [](Peer& server) {
        server.channel.hear();
        {
          auto list = list_of(server, {{128, 8}, {256, 8}});
          const ReceiveRequest receive{.length_bytes = 16, .segments = list};
          require(server.queue_pair->post_receive({&receive, 1}));
          list.assign(2, LocalSegment{.address = {.key = 1, .offset = 7}, .length_bytes = 9});
        }
        EXPECT_EQ(server.next_received().status, CompletionStatus::success);
        EXPECT_EQ(server.block().load(128), 11U);
        EXPECT_EQ(server.block().load(256), 22U);
      });
}

TEST_P(SegmentsTest, ChainMayMixLists) {
  run_pairs(with_segments, [](Peer& client) {
    for (std::uint64_t i = 0; i < 8; ++i) client.block().store(i * word_bytes, 10 + i);
    const auto two = list_of(client, {{56, 8}, {0, 8}});
    const auto three = list_of(client, {{24, 8}, {32, 8}, {40, 8}});
    client.post({with_list(client.write(0, 0, 0), two), client.write(16, 16, 8),
                 with_list(client.write(0, 24, 0), three), client.write(0, 0, 0),
                 with_list(client.read(0, 0, 0), list_of(client, {{1'000, 40}, {2'000, 8}}))});
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(client.next_completion().status, CompletionStatus::success);
    }
    const std::uint64_t expected[] = {17, 10, 12, 13, 14};
    for (std::uint64_t i = 0; i < 5; ++i) {
      EXPECT_EQ(client.block().load(1'000 + i * word_bytes), expected[i]) << "word " << i;
    }
    EXPECT_EQ(client.block().load(2'000), 15U);
  });
}

// -------------------------------------------------------------------------------------------------
// Limits and mistakes

std::optional<ErrorCode> error_of_list(Peer& peer, WorkRequest request,
                                       const std::vector<Piece>& wanted) {
  const auto list = list_of(peer, wanted);
  return error_of_posting(peer, with_list(request, list));
}

TEST_P(SegmentsTest, ListsHaveTheLengthThatWasAskedFor) {
  run_pairs(with_segments, [](Peer& client) {
    const std::vector<Piece> longest(list_length, Piece{0, 8});
    const std::vector<Piece> too_long(list_length + 1, Piece{0, 8});
    EXPECT_EQ(error_of_list(client, client.write(0, 0, 0), too_long), ErrorCode::invalid_argument);
    EXPECT_EQ(error_of_list(client, client.write(0, 0, 0), longest), std::nullopt);
    EXPECT_EQ(client.next_completion().status, CompletionStatus::success);
    const auto list = list_of(client, too_long);
    const ReceiveRequest receive{.length_bytes = sum_of(list), .segments = list};
    EXPECT_EQ(error_of(client.queue_pair->post_receive({&receive, 1})),
              ErrorCode::invalid_argument);
  });
  run_pairs({}, [](Peer& client) {
    EXPECT_EQ(error_of_list(client, client.write(0, 0, 0), {{0, 8}, {8, 8}}),
              ErrorCode::invalid_argument);
    EXPECT_EQ(error_of_list(client, client.write(0, 0, 0), {{0, 8}}), std::nullopt);
    EXPECT_EQ(client.next_completion().status, CompletionStatus::success);
  });
}

TEST_P(SegmentsTest, DeviceLimitsTheirNumber) {
  run_alone([](Host& host) {
    Site site(host);
    const std::uint32_t limit = site.device.attributes().max_scatter_gather_entries;
    EXPECT_GE(limit, 2U);
    const auto listener = require(site.device.listen(1));
    const auto error_with = [&](std::uint32_t sends, std::uint32_t receives) {
      const Link link(site, {.max_send_segments = sends, .max_receive_segments = receives});
      return error_of(
          site.device.connect({host.name(), 1}, link.options, {}, host.now_ns() + millisecond_ns));
    };
    EXPECT_EQ(error_with(limit + 1, 1), ErrorCode::invalid_argument);
    EXPECT_EQ(error_with(1, limit + 1), ErrorCode::invalid_argument);
    EXPECT_EQ(error_with(0, 1), ErrorCode::invalid_argument);
    EXPECT_EQ(error_with(1, 0), ErrorCode::invalid_argument);
    EXPECT_EQ(error_with(limit, limit), ErrorCode::unreachable) << "this is valid";
  });
}

TEST_P(SegmentsTest, ListMustAddUpAndHaveNoEmptySegment) {
  run_pairs(with_segments, [](Peer& client) {
    const auto list = list_of(client, {{0, 8}, {8, 8}});
    for (const std::uint32_t length_bytes : {0U, 15U, 17U}) {
      WorkRequest request = with_list(client.write(0, 0, 0), list);
      request.length_bytes = length_bytes;
      EXPECT_EQ(error_of_posting(client, request), ErrorCode::invalid_argument);
      const ReceiveRequest receive{.length_bytes = length_bytes, .segments = list};
      EXPECT_EQ(error_of(client.queue_pair->post_receive({&receive, 1})),
                ErrorCode::invalid_argument);
    }
    EXPECT_EQ(error_of_list(client, client.write(0, 0, 0), {{0, 8}, {8, 0}}),
              ErrorCode::invalid_argument);
    EXPECT_EQ(error_of_list(client, client.fetch_and_add(0, 0, 1), {{0, 8}}),
              ErrorCode::invalid_argument);
  });
}

TEST_P(SegmentsTest, EachSegmentIsChecked) {
  run_pairs(with_segments, [](Peer& client) {
    const Memory read_only = client.site->make_memory(64, {.remote_read = true});
    const std::vector<LocalSegment> mixed{{.address = client.memory->local(), .length_bytes = 8},
                                          {.address = read_only.local(), .length_bytes = 8}};
    EXPECT_EQ(error_of_posting(client, with_list(client.read(0, 0, 0), mixed)),
              ErrorCode::access_denied);
    EXPECT_EQ(error_of_posting(client, with_list(client.write(0, 0, 0), mixed)), std::nullopt);
    EXPECT_EQ(client.next_completion().status, CompletionStatus::success);
    const std::vector<LocalSegment> too_far{{.address = client.memory->local(), .length_bytes = 8},
                                            {.address = read_only.local(60), .length_bytes = 8}};
    EXPECT_EQ(error_of_posting(client, with_list(client.write(0, 0, 0), too_far)),
              ErrorCode::out_of_bounds);
    const std::vector<LocalSegment> unknown{
        {.address = client.memory->local(), .length_bytes = 8},
        {.address = {.key = read_only.region->local_key() ^ 0x5a5a5a5aU, .offset = 0},
         .length_bytes = 8}};
    EXPECT_EQ(error_of_posting(client, with_list(client.write(0, 0, 0), unknown)),
              ErrorCode::access_denied);
    const ReceiveRequest receive{.length_bytes = 16, .segments = mixed};
    EXPECT_EQ(error_of(client.queue_pair->post_receive({&receive, 1})), ErrorCode::access_denied);
  });
}

// -------------------------------------------------------------------------------------------------
// UD

TEST_P(SegmentsTest, DatagramHasItsRoutingDataInTheFirstSegment) {
  if (!capabilities().unreliable_datagram) GTEST_SKIP();
  run_pairs(
      with_segments,
      [](Peer& client) {
        Link link(*client.site,
                  {.transport = Transport::unreliable_datagram, .max_send_segments = 2});
        link.queue_pair = require(client.site->device.create_datagram_queue_pair(link.options));
        client.block().store(0, 11);
        client.block().store(64, 22);
        const auto list = list_of(client, {{0, 8}, {64, 8}});
        WorkRequest request = with_list(client.send(0, 0), list);
        const auto number = static_cast<std::uint32_t>(client.channel.hear());
        request.destination = require(client.site->device.resolve("server", number));
        for (int i = 0; i < 10; ++i) {
          EXPECT_EQ(link.execute(request).status, CompletionStatus::success);
        }
      },
      [](Peer& server) {
        Link link(*server.site,
                  {.transport = Transport::unreliable_datagram, .max_receive_segments = 2});
        link.queue_pair = require(server.site->device.create_datagram_queue_pair(link.options));
        auto list = list_of(server, {{0, datagram_header_bytes}, {128, 16}});
        const ReceiveRequest receive{.length_bytes = 56, .segments = list};
        require(link.queue_pair->post_receive({&receive, 1}));
        list[0].length_bytes = datagram_header_bytes - 1;
        list[1].length_bytes = 17;
        EXPECT_EQ(error_of(link.queue_pair->post_receive({&receive, 1})),
                  ErrorCode::invalid_argument);
        server.channel.tell(link.queue_pair->number());
        EXPECT_EQ(link.next_received().length_bytes, 56U);
        EXPECT_EQ(server.block().load(128), 11U);
        EXPECT_EQ(server.block().load(136), 22U);
      });
}

}  // namespace
}  // namespace falafel::conformance
