// Answers to the requests that the front runs on the store.
#include "tools/server/memcached_front/responder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/server/memcached_front/conversation.h"

namespace falafel::memcached_front {
namespace {

using testing::HasSubstr;

TEST(Responder, TextCommands) {
  Conversation client;
  EXPECT_EQ(client.send("set a 7 0 3\r\nabc\r\n"), "STORED\r\n");
  EXPECT_EQ(client.send("set b 0 0 0\r\n\r\n"), "STORED\r\n");
  EXPECT_EQ(client.send("get a b c\r\n"), "VALUE a 7 3\r\nabc\r\nVALUE b 0 0\r\n\r\nEND\r\n");
  EXPECT_EQ(client.send("delete a\r\ndelete a 0\r\n"), "DELETED\r\nNOT_FOUND\r\n");
  EXPECT_EQ(client.send("verbosity 1\r\n"), "OK\r\n");
  EXPECT_EQ(client.send("version\r\n"), "VERSION 1.6.0-falafel\r\n");
  EXPECT_EQ(client.send("quit\r\nversion\r\n"), "");
  EXPECT_TRUE(client.has_ended());
}

TEST(Responder, NoreplyCommandsHaveNoAnswer) {
  Conversation client;
  EXPECT_EQ(client.send("set a 0 0 1 noreply\r\nx\r\nget a\r\n"), "VALUE a 0 1\r\nx\r\nEND\r\n");
  EXPECT_EQ(client.send("delete a noreply\r\nverbosity 1 noreply\r\nget a\r\n"), "END\r\n");
}

TEST(Responder, ANoreplyCommandThatFailsEndsTheConnection) {
  for (const std::string_view refused :
       {"set a 0 60 1 noreply\r\nx\r\n", "touch a 60 noreply\r\n", "flush_all 5 noreply\r\n",
        "add a 0 60 1 noreply\r\nx\r\n"}) {
    Conversation client;
    EXPECT_THAT(client.send(refused), HasSubstr("SERVER_ERROR")) << refused;
    EXPECT_TRUE(client.has_ended()) << refused;
  }
  Conversation client;
  client.storage().failure = engine::Answer::out_of_memory;
  EXPECT_EQ(client.send("set a 0 0 1 noreply\r\nx\r\nget a\r\n"),
            "SERVER_ERROR out of memory storing object\r\n");
  EXPECT_TRUE(client.has_ended());
}

TEST(Responder, ChangesThatDependOnTheValue) {
  Conversation client;
  EXPECT_EQ(client.send("replace a 0 0 1\r\nx\r\n"), "NOT_STORED\r\n");
  EXPECT_EQ(client.send("append a 0 0 1\r\nx\r\n"), "NOT_STORED\r\n");
  EXPECT_EQ(client.send("add a 7 0 1\r\nx\r\n"), "STORED\r\n");
  EXPECT_EQ(client.send("add a 0 0 1\r\ny\r\n"), "NOT_STORED\r\n");
  EXPECT_EQ(client.send("append a 9 0 1\r\ny\r\nprepend a 9 0 1\r\nw\r\nget a\r\n"),
            "STORED\r\nSTORED\r\nVALUE a 7 3\r\nwxy\r\nEND\r\n");
  EXPECT_EQ(client.send("replace a 0 0 1\r\nz\r\nget a\r\n"),
            "STORED\r\nVALUE a 0 1\r\nz\r\nEND\r\n");
  EXPECT_EQ(client.send("add a 0 0 1 noreply\r\nq\r\nget a\r\n"), "VALUE a 0 1\r\nz\r\nEND\r\n");
  EXPECT_FALSE(client.has_ended()) << "NOT_STORED is no failure";
}

std::string cas_id_in(const std::string& answer) {
  const std::size_t end = answer.find('\r');
  return answer.substr(answer.rfind(' ', end) + 1, end - answer.rfind(' ', end) - 1);
}

TEST(Responder, CasStoresOnlyOverTheValueThatWasRead) {
  Conversation client;
  EXPECT_EQ(client.send("cas a 0 0 1 1\r\nx\r\n"), "NOT_FOUND\r\n");
  client.send("set a 0 0 1\r\nx\r\n");
  const std::string id = cas_id_in(client.send("gets a\r\n"));
  EXPECT_EQ(client.send("cas a 0 0 1 " + id + "\r\ny\r\n"), "STORED\r\n");
  EXPECT_EQ(client.send("cas a 0 0 1 " + id + "\r\nz\r\nget a\r\n"),
            "EXISTS\r\nVALUE a 0 1\r\ny\r\nEND\r\n");
  EXPECT_NE(cas_id_in(client.send("gets a\r\n")), id);
  // the flags are part of what may have changed
  const std::string unflagged = cas_id_in(client.send("gets a\r\n"));
  client.send("set a 5 0 1\r\ny\r\n");
  EXPECT_EQ(client.send("cas a 0 0 1 " + unflagged + "\r\nz\r\n"), "EXISTS\r\n");
}

TEST(Responder, NumbersCountAsInMemcached) {
  Conversation client;
  EXPECT_EQ(client.send("incr a 1\r\n"), "NOT_FOUND\r\n");
  client.send("set a 3 0 2\r\n98\r\n");
  EXPECT_EQ(client.send("incr a 3\r\ndecr a 2\r\n"), "101\r\n99\r\n");
  EXPECT_EQ(client.send("get a\r\n"), "VALUE a 3 2\r\n99\r\nEND\r\n");
  EXPECT_EQ(client.send("decr a 100\r\n"), "0\r\n");
  EXPECT_EQ(client.send("incr a 18446744073709551615\r\nincr a 2\r\n"),
            "18446744073709551615\r\n1\r\n");
  client.send("set a 0 0 3\r\n5  \r\n");
  EXPECT_EQ(client.send("incr a 1 noreply\r\nincr a 1\r\n"), "7\r\n");
  for (const std::string_view value : {"x", "", "-1", "1x", "18446744073709551616"}) {
    client.storage().values["a"] = value;
    EXPECT_EQ(client.send("incr a 1\r\n"),
              "CLIENT_ERROR cannot increment or decrement non-numeric value\r\n");
  }
}

TEST(Responder, AChangeBeginsAnewIfAnotherOneComesBetween) {
  Conversation client;
  client.storage().values["a"] = "1";
  client.storage().interfere = [&] { client.storage().values["a"] = "5"; };
  EXPECT_EQ(client.send("incr a 1\r\n"), "6\r\n");
  client.storage().interfere = [&] { client.storage().values.erase("a"); };
  EXPECT_EQ(client.send("append a 0 0 1\r\nx\r\n"), "NOT_STORED\r\n");
  client.storage().interfere = [&] { client.storage().values["a"] = "1"; };
  EXPECT_EQ(client.send("add a 0 0 1\r\n2\r\n"), "NOT_STORED\r\n");
}

TEST(Responder, TouchesAndKeepsTheExpiry) {
  Conversation client({.is_cache = true});
  client.send("set a 0 60 1\r\n5\r\n");
  const auto& exptimes = client.storage().exptimes;
  client.send("incr a 1\r\nappend a 0 0 1\r\n0\r\n");
  EXPECT_EQ(exptimes.at("a"), 60);
  EXPECT_EQ(client.send("touch a 90\r\ntouch b 90\r\n"), "TOUCHED\r\nNOT_FOUND\r\n");
  EXPECT_EQ(exptimes.at("a"), 90);
  EXPECT_EQ(client.send("gat 0 a b\r\n"), "VALUE a 0 2\r\n60\r\nEND\r\n");
  EXPECT_EQ(exptimes.at("a"), 0);
  client.send("mg a T30\r\n");
  EXPECT_EQ(exptimes.at("a"), 30);
  EXPECT_EQ(client.statistics().get_hits, 2U);
  EXPECT_EQ(client.statistics().get_misses, 1U);
}

TEST(Responder, FlushesAndListsAllKeys) {
  Conversation client;
  client.send("set a 0 0 2\r\nxy\r\nset b 9 0 1\r\nz\r\n");
  EXPECT_EQ(client.send("stats cachedump 1 0\r\n"),
            "ITEM a [2 b; 0 s]\r\nITEM b [1 b; 0 s]\r\nEND\r\n");
  EXPECT_EQ(client.send("stats cachedump 1 1\r\n"), "ITEM a [2 b; 0 s]\r\nEND\r\n");
  EXPECT_EQ(client.send("stats cachedump 2 0\r\nstats items\r\n"), "END\r\nEND\r\n");
  EXPECT_EQ(client.send("flush_all\r\nget a b\r\n"), "OK\r\nEND\r\n");
  EXPECT_TRUE(client.storage().values.empty());
  client.storage().failure = engine::Answer::timed_out;
  EXPECT_THAT(client.send("flush_all\r\n"), HasSubstr("SERVER_ERROR"));
}

TEST(Responder, MetaChanges) {
  Conversation client;
  EXPECT_EQ(client.send("ms a 1 ME\r\nx\r\nms a 1 ME k\r\nx\r\n"), "HD\r\nNS ka\r\n");
  EXPECT_EQ(client.send("ms a 1 MA\r\nz\r\nmg a v\r\n"), "HD\r\nVA 2\r\nxz\r\n");
  EXPECT_EQ(client.send("ms a 1 C1\r\nz\r\nms b 1 C1\r\nz\r\n"), "EX\r\nNF\r\n");
  EXPECT_EQ(client.send("ms a 1 MR q\r\n5\r\nma a v\r\nma a\r\nma a MD D3 v\r\n"),
            "VA 1\r\n6\r\nHD\r\nVA 1\r\n4\r\n");
  EXPECT_EQ(client.send("ma b q\r\nma b N0 J13 v\r\nma b v\r\n"),
            "NF\r\nVA 2\r\n13\r\nVA 2\r\n14\r\n");
  const std::string id = cas_id_in(client.send("mg a c\r\n")).substr(1);
  EXPECT_EQ(client.send("ms a 1 C" + id + "\r\n8\r\n"), "HD\r\n");
}

TEST(Responder, MetaCommands) {
  Conversation client;
  EXPECT_EQ(client.send("ms a 3 F9\r\nabc\r\n"), "HD\r\n");
  EXPECT_EQ(client.send("mg a\r\n"), "HD\r\n");
  EXPECT_EQ(client.send("mg a s v f t k O12\r\n"), "VA 3 s3 f9 t-1 ka O12\r\nabc\r\n");
  EXPECT_EQ(client.send("mg b v\r\n"), "EN\r\n");
  EXPECT_EQ(client.send("md a k Ox\r\nmd a\r\nmn\r\n"), "HD ka Ox\r\nNF\r\nMN\r\n");
}

TEST(Responder, QuietMetaCommandsReportOnlyWhatIsNotExpected) {
  Conversation client;
  EXPECT_EQ(client.send("ms a 1 q\r\nx\r\nmg a q v\r\nmg b q v\r\nmd a q\r\nmd a q\r\nmn\r\n"),
            "VA 1\r\nx\r\nMN\r\n");
  client.storage().failure = engine::Answer::table_full;
  EXPECT_EQ(client.send("ms a 1 q\r\nx\r\nmn\r\n"),
            "SERVER_ERROR the table of the store is full\r\nMN\r\n");
}

TEST(Responder, AFailedReadIsNoMiss) {
  Conversation client;
  client.storage().failure = engine::Answer::disconnected;
  EXPECT_EQ(client.send("get a b\r\n"),
            "SERVER_ERROR the store is not connected; nothing was changed\r\n");
  EXPECT_EQ(client.send("mg a v\r\n"),
            "SERVER_ERROR the store is not connected; nothing was changed\r\n");
  EXPECT_EQ(client.statistics().get_misses, 0U);
}

TEST(Responder, ValuesOfOtherProgramsHaveFlagsZero) {
  Conversation client;
  client.storage().values["a"] = "plain";
  EXPECT_EQ(client.send("get a\r\n"), "VALUE a 0 5\r\nplain\r\nEND\r\n");
  client.send("set b 0 0 5\r\nplain\r\n");
  EXPECT_EQ(client.storage().values["b"], "plain");
}

TEST(Responder, StatisticsCountRequests) {
  Conversation client;
  client.send(
      "set a 0 0 1\r\nx\r\nget a b c\r\nmg a\r\ndelete a\r\ndelete a\r\nset a 0 9 1\r\nx\r\n");
  const std::string statistics = client.send("stats\r\n");
  for (const std::string_view line :
       {"STAT cmd_get 4\r\n", "STAT get_hits 2\r\n", "STAT get_misses 2\r\n", "STAT cmd_set 1\r\n",
        "STAT delete_hits 1\r\n", "STAT delete_misses 1\r\n", "STAT refused_requests 1\r\n"}) {
    EXPECT_THAT(statistics, HasSubstr(line));
  }
  EXPECT_TRUE(statistics.ends_with("\r\nEND\r\n"));
}

}  // namespace
}  // namespace falafel::memcached_front
