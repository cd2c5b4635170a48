// Requests of the binary protocol and their answers. memccapable tests it as a client
// (program_test.py); here are the cases that it leaves out.
#include "tools/server/memcached_front/binary_responder.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "tests/server/memcached_front/conversation.h"
#include "tools/server/memcached_front/binary_frame.h"

namespace falafel::memcached_front {
namespace {

using Opcode = BinaryOpcode;
using Status = BinaryStatus;

struct Frame {
  std::uint8_t opcode = 0;
  std::string extras{};
  std::string key{};
  std::string value{};
  std::uint64_t cas = 0;
};

Frame frame(Opcode opcode, std::string_view key = {}) {
  return {.opcode = static_cast<std::uint8_t>(opcode), .key = std::string(key)};
}

std::string numbers(std::initializer_list<std::pair<std::uint64_t, std::size_t>> all) {
  std::string text;
  for (const auto& [number, bytes] : all) append_number(text, number, bytes);
  return text;
}

std::string bytes_of(const Frame& request) {
  constexpr std::uint32_t opaque = 0x01020304;
  std::string text(1, magic_of_binary_request);
  append_number(text, request.opcode, 1);
  append_number(text, request.key.size(), 2);
  append_number(text, request.extras.size(), 1);
  append_number(text, 0, 3);
  append_number(text, request.extras.size() + request.key.size() + request.value.size(), 4);
  append_number(text, opaque, 4);
  append_number(text, request.cas, 8);
  return text + request.extras + request.key + request.value;
}

struct Answered {
  Status status{};
  std::uint64_t cas = 0;
  std::string body;
};

// Sends the request and returns its only answer.
Answered ask(Conversation& client, const Frame& request) {
  const std::string answer = client.send(bytes_of(request));
  EXPECT_GE(answer.size(), binary_header_bytes);
  if (answer.size() < binary_header_bytes) return {};
  EXPECT_EQ(answer[0], '\x81');
  EXPECT_EQ(load_number(answer.substr(12), 4), 0x01020304U);
  EXPECT_EQ(answer.size(), binary_header_bytes + body_bytes_of(answer));
  return {.status = static_cast<Status>(load_number(answer.substr(6), 2)),
          .cas = load_number(answer.substr(16), 8),
          .body = answer.substr(binary_header_bytes)};
}

Frame set_of(std::string_view key, std::string_view value, std::uint32_t expiration = 0) {
  Frame request = frame(Opcode::set, key);
  request.extras = numbers({{7, 4}, {expiration, 4}});
  request.value = value;
  return request;
}

TEST(BinaryProtocol, StoresAndGetsWithTheSameCasId) {
  Conversation client;
  const Answered stored = ask(client, set_of("a", "xyz"));
  EXPECT_EQ(stored.status, Status::success);
  const Answered got = ask(client, frame(Opcode::get, "a"));
  EXPECT_EQ(got.body, numbers({{7, 4}}) + "xyz");
  EXPECT_EQ(got.cas, stored.cas);
  EXPECT_EQ(client.send("get a\r\n"), "VALUE a 7 3\r\nxyz\r\nEND\r\n");
  Frame late = set_of("a", "new");
  late.cas = stored.cas + 1;
  EXPECT_EQ(ask(client, late).status, Status::exists);
  late.cas = stored.cas;
  EXPECT_EQ(ask(client, late).status, Status::success);
  late.key = "absent";
  EXPECT_EQ(ask(client, late).status, Status::not_found);
}

TEST(BinaryProtocol, TellsWhyAChangeIsNotMade) {
  Conversation client;
  Frame change = set_of("a", "1");
  change.opcode = static_cast<std::uint8_t>(Opcode::replace);
  EXPECT_EQ(ask(client, change).status, Status::not_found);
  change.opcode = static_cast<std::uint8_t>(Opcode::add);
  EXPECT_EQ(ask(client, change).status, Status::success);
  EXPECT_EQ(ask(client, change).status, Status::exists);
  Frame append = frame(Opcode::append, "b");
  EXPECT_EQ(ask(client, append).status, Status::not_stored);
  Frame removed = frame(Opcode::remove, "a");
  removed.cas = 5;
  EXPECT_EQ(ask(client, removed).status, Status::not_supported);
  EXPECT_EQ(ask(client, frame(Opcode::get, "a")).status, Status::success);
}

TEST(BinaryProtocol, CountsAndCreates) {
  Conversation client;
  Frame increment = frame(Opcode::increment, "n");
  increment.extras = numbers({{5, 8}, {40, 8}, {0xffff'ffff, 4}});
  EXPECT_EQ(ask(client, increment).status, Status::not_found);
  increment.extras = numbers({{5, 8}, {40, 8}, {0, 4}});
  EXPECT_EQ(ask(client, increment).body, numbers({{40, 8}}));
  EXPECT_EQ(ask(client, increment).body, numbers({{45, 8}}));
  increment.opcode = static_cast<std::uint8_t>(Opcode::decrement);
  EXPECT_EQ(ask(client, increment).body, numbers({{40, 8}}));
  EXPECT_EQ(client.storage().values["n"], "40");
  client.storage().values["n"] = "x";
  EXPECT_EQ(ask(client, increment).status, Status::not_numeric);
}

TEST(BinaryProtocol, TouchesInACache) {
  Conversation client({.is_cache = true});
  ask(client, set_of("a", "x", 60));
  Frame touched = frame(Opcode::touch, "a");
  touched.extras = numbers({{90, 4}});
  EXPECT_EQ(ask(client, touched).status, Status::success);
  EXPECT_EQ(client.storage().exptimes["a"], 90);
  touched.opcode = static_cast<std::uint8_t>(Opcode::get_and_touch);
  touched.extras = numbers({{0, 4}});
  EXPECT_EQ(ask(client, touched).body, numbers({{7, 4}}) + "x");
  EXPECT_EQ(client.storage().exptimes["a"], 0);
  Conversation keeping;
  EXPECT_EQ(ask(keeping, set_of("a", "x", 60)).status, Status::not_supported);
}

TEST(BinaryProtocol, QuietRequestsSayOnlyWhatIsNotExpected) {
  Conversation client;
  Frame quiet = set_of("a", "x");
  quiet.opcode = static_cast<std::uint8_t>(Opcode::set_quietly);
  EXPECT_EQ(client.send(bytes_of(quiet) + bytes_of(frame(Opcode::get_quietly, "b"))), "");
  EXPECT_EQ(ask(client, frame(Opcode::get_quietly, "a")).status, Status::success);
  client.storage().failure = engine::Answer::table_full;
  EXPECT_EQ(ask(client, quiet).status, Status::out_of_memory);
}

TEST(BinaryProtocol, BadRequestsAreAnswered) {
  Conversation client;
  EXPECT_EQ(ask(client, {.opcode = 0x77}).status, Status::unknown_command);
  EXPECT_EQ(ask(client, frame(Opcode::get)).status, Status::invalid_arguments);
  EXPECT_EQ(ask(client, frame(Opcode::set, "a")).status, Status::invalid_arguments);
  EXPECT_EQ(ask(client, frame(Opcode::get, std::string(251, 'k'))).status,
            Status::invalid_arguments);
  std::string contradictory = bytes_of(frame(Opcode::get, "key"));
  contradictory[3] = 100;  // a longer key than the body
  EXPECT_EQ(client.send(contradictory).substr(6, 2), std::string("\x00\x04", 2));
  std::string huge = bytes_of(frame(Opcode::get, "key"));
  huge[8] = '\x7f';
  EXPECT_EQ(client.send(huge), "SERVER_ERROR object too large for cache\r\n");
  EXPECT_TRUE(client.has_ended());
}

// Frames may arrive in pieces, and between requests of the text protocol.
TEST(BinaryProtocol, FramesArriveInPieces) {
  Conversation client;
  const std::string set = bytes_of(set_of("a", "xyz"));
  std::string answers;
  for (const char byte : set) answers += client.send({&byte, 1});
  EXPECT_EQ(answers.size(), binary_header_bytes);
  EXPECT_EQ(client.storage().values.size(), 1U);
}

TEST(BinaryProtocol, QuitEndsTheConnection) {
  Conversation client;
  EXPECT_EQ(ask(client, frame(Opcode::quit)).status, Status::success);
  EXPECT_TRUE(client.has_ended());
}

}  // namespace
}  // namespace falafel::memcached_front
