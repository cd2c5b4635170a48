// Streams of requests in pieces of any size, data blocks of refused requests, and garbage.
#include "tools/server/memcached_front/request_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/server/memcached_front/conversation.h"

namespace falafel::memcached_front {
namespace {

TEST(RequestParser, AValueMayContainAnything) {
  Conversation client;
  EXPECT_EQ(client.send("set k 0 0 12\r\n\r\nget k\r\nend\r\n"), "STORED\r\n");
  EXPECT_EQ(client.send("get k\r\n"), "VALUE k 0 12\r\n\r\nget k\r\nend\r\nEND\r\n");
}

TEST(RequestParser, ALineMayEndWithoutACarriageReturn) {
  EXPECT_EQ(Conversation().send("get k\n"), "END\r\n");
}

TEST(RequestParser, TheDataOfARefusedRequestIsNoCommand) {
  Conversation client;
  EXPECT_THAT(client.send("add k 0 60 14\r\nset k 0 0 1\r\nx\r\nmn\r\n"),
              testing::MatchesRegex("SERVER_ERROR expiry 60 is not supported: [^\r]*\r\nMN\r\n"));
  EXPECT_TRUE(client.storage().values.empty());
}

TEST(RequestParser, AValueBeyondTheLimitIsDroppedAsItArrives) {
  Conversation client({.largest_value_bytes = 10});
  EXPECT_EQ(client.send("set k 0 0 11\r\n"), "");
  EXPECT_EQ(client.send("0123456789"), "");
  EXPECT_EQ(client.send("A\r\nms k 11\r\n0123456789A\r\n"),
            "SERVER_ERROR object too large for cache\r\n"
            "SERVER_ERROR object too large for cache\r\n");
  EXPECT_EQ(client.send("set k 0 0 10\r\n0123456789\r\n"), "STORED\r\n");
}

TEST(RequestParser, ABlockWithoutItsEndOfLineEndsTheConnection) {
  Conversation client;
  EXPECT_EQ(client.send("set k 0 0 2\r\nabcd\r\nset k 0 0 1\r\nx\r\n"),
            "CLIENT_ERROR bad data chunk\r\n");
  EXPECT_TRUE(client.has_ended());
  EXPECT_TRUE(client.storage().values.empty());
}

TEST(RequestParser, ALineWithoutEndEndsTheConnection) {
  Conversation client;
  EXPECT_EQ(client.send(std::string(longest_line_bytes, 'x')), "");
  EXPECT_EQ(client.send("xx"), "CLIENT_ERROR line too long\r\n");
  EXPECT_TRUE(client.has_ended());
}

TEST(RequestParser, AFrameOfTheBinaryProtocolMayFollowALine) {
  Conversation client;
  const std::string no_operation = "\x80\x0a" + std::string(22, '\0');
  EXPECT_EQ(client.send("mn\r\n" + no_operation + "mn\r\n"),
            "MN\r\n\x81\x0a" + std::string(22, '\0') + "MN\r\n");
}

TEST(RequestParser, AGetOfThousandsOfKeysIsOneLine) {
  std::string line = "get";
  for (int key = 0; key < 4'000; ++key) line += " " + std::string(240, 'k');
  EXPECT_EQ(Conversation().send(line + "\r\n"), "END\r\n");
}

TEST(RequestParser, AnInvalidKeyEndsItsGet) {
  Conversation client;
  client.send("set k 0 0 1\r\nx\r\n");
  EXPECT_EQ(client.send("get k " + std::string(251, 'k') + " k\r\nmn\r\n"),
            "VALUE k 0 1\r\nx\r\nCLIENT_ERROR bad command line format\r\nMN\r\n");
}

// Requests of all kinds, correct and wrong, and pieces of them.
rc::Gen<std::string> arbitrary_piece() {
  return rc::gen::oneOf(
      rc::gen::elementOf(std::vector<std::string>{"set a 0 0 3\r\nabc\r\n",
                                                  "set a 5 0 0\r\n\r\n",
                                                  "set b 1 0 5 noreply\r\n\r\n\r\n\n\r\n",
                                                  "set a 0 60 3\r\nabc\r\n",
                                                  "set a 0 0 21\r\n123456789012345678901\r\n",
                                                  "get a\r\n",
                                                  "get a b c\n",
                                                  "get\r\n",
                                                  "delete a\r\n",
                                                  "delete b noreply\r\n",
                                                  "add a 0 0 4\r\nget \r\n",
                                                  "cas a 0 0 1 7\r\n1\r\n",
                                                  "ms a 2 F3 Oq1 k\r\nxy\r\n",
                                                  "ms b 1 T9\r\n1\r\n",
                                                  "mg a v f k t s Ox\r\n",
                                                  "mg b q v\r\n",
                                                  "md a q\r\n",
                                                  "mn\r\n",
                                                  "gets a\r\n",
                                                  "flush_all\r\n",
                                                  "verbosity 1\r\n",
                                                  "version\r\n",
                                                  "incr a 1\r\n",
                                                  "\x80\x0a" + std::string(22, '\0'),
                                                  "\x80\x77" + std::string(22, '\0'),
                                                  "\r\n"}),
      rc::gen::elementOf(std::vector<std::string>{"set a 0 0 ", "get ", "\r\n", "\r", "\n", "\x80",
                                                  "set a 0 0 1\r\nxyz", "noreply", "quit\r\n"}),
      rc::gen::arbitrary<std::string>());
}

RC_GTEST_PROP(RequestParserProperty, AnswersDoNotDependOnWhereTheStreamIsSplit, ()) {
  const auto pieces = *rc::gen::container<std::vector<std::string>>(arbitrary_piece());
  const std::string stream = std::accumulate(pieces.begin(), pieces.end(), std::string());
  constexpr ParserOptions options{.largest_value_bytes = 20};
  Conversation whole(options);
  const std::string answers = whole.send(stream);
  Conversation split(options);
  std::string split_answers;
  for (std::size_t sent = 0; sent < stream.size();) {
    const auto length = *rc::gen::inRange<std::size_t>(1, 1 + stream.size() - sent);
    split_answers += split.send(std::string_view(stream).substr(sent, length));
    sent += length;
  }
  RC_ASSERT(split_answers == answers);
  RC_ASSERT(split.storage().values == whole.storage().values);
  RC_ASSERT(split.has_ended() == whole.has_ended());
}

RC_GTEST_PROP(RequestParserProperty, EveryAnswerToGarbageIsALineOfTheProtocol,
              (const std::vector<std::string>& pieces)) {
  Conversation client;
  std::string answers;
  for (std::string piece : pieces) {
    std::ranges::replace(piece, '\x80', 'x');  // a frame of the binary protocol
    answers += client.send(piece + "\n");
  }
  for (std::size_t begin = 0; begin < answers.size();) {
    const std::size_t end = answers.find("\r\n", begin);
    RC_ASSERT(end != std::string::npos);
    const std::string line = answers.substr(begin, end - begin);
    RC_ASSERT(line == "ERROR" || line.starts_with("CLIENT_ERROR "));
    begin = end + 2;
  }
  RC_ASSERT(client.storage().values.empty());
}

}  // namespace
}  // namespace falafel::memcached_front
