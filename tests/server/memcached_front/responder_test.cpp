// Answers to the requests that the front runs on the store.
#include "tools/server/memcached_front/responder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  for (const std::string_view refused : {"set a 0 60 1 noreply\r\nx\r\n", "incr a 1 noreply\r\n",
                                         "flush_all noreply\r\n", "add a 0 0 1 noreply\r\nx\r\n"}) {
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
  client.send("set a 0 0 1\r\nx\r\nget a b c\r\nmg a\r\ndelete a\r\ndelete a\r\ngets a\r\n");
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
