// Tests of the load generator's requests to memcached and Redis, and of its parsers.
#include "tools/benchmarks/load_generator/protocol.h"

#include <gtest/gtest.h>

namespace falafel::load_generator {
namespace {

void expect_value_however_it_is_cut(const Protocol& protocol, const std::string& answer) {
  for (std::size_t length = 0; length < answer.size(); ++length) {
    EXPECT_FALSE(protocol.parse(answer.substr(0, length)).has_value()) << length;
  }
  const std::string bytes = answer + answer;
  const auto parsed = protocol.parse(bytes);
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->kind, Answer::Kind::value);
  EXPECT_EQ(parsed->value, "a\r\nb");
  EXPECT_EQ(parsed->size_bytes, answer.size());
}

TEST(MemcachedProtocol, SpeaksAndUnderstands) {
  const auto protocol = make_memcached_protocol();
  std::string requests;
  protocol->append_get(requests, "key");
  protocol->append_set(requests, "key", "value");
  EXPECT_EQ(requests, "get key\r\nset key 0 0 5\r\nvalue\r\n");
  expect_value_however_it_is_cut(*protocol, "VALUE key 0 4\r\na\r\nb\r\nEND\r\n");
  EXPECT_EQ(protocol->parse("END\r\n")->kind, Answer::Kind::missing);
  EXPECT_EQ(protocol->parse("STORED\r\n")->kind, Answer::Kind::stored);
  EXPECT_EQ(protocol->parse("SERVER_ERROR out of memory\r\n")->kind, Answer::Kind::unexpected);
}

TEST(RedisProtocol, SpeaksAndUnderstands) {
  const auto protocol = make_redis_protocol();
  std::string requests;
  protocol->append_get(requests, "key");
  protocol->append_set(requests, "key", "value");
  EXPECT_EQ(requests,
            "*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n*3\r\n$3\r\nSET\r\n$3\r\nkey\r\n$5\r\nvalue\r\n");
  expect_value_however_it_is_cut(*protocol, "$4\r\na\r\nb\r\n");
  EXPECT_EQ(protocol->parse("$-1\r\n")->kind, Answer::Kind::missing);
  EXPECT_EQ(protocol->parse("+OK\r\n")->kind, Answer::Kind::stored);
  EXPECT_EQ(protocol->parse("-OOM command not allowed\r\n")->kind, Answer::Kind::unexpected);
}

}  // namespace
}  // namespace falafel::load_generator
