// Lines of memcached's protocol: what they ask for, and what is refused.
#include "tools/server/memcached_front/command_line.h"
#include "fabric/time_units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "tools/server/memcached_front/expiry.h"

namespace falafel::memcached_front {
namespace {

using Kind = Request::Kind;
using testing::HasSubstr;
using testing::StartsWith;

TEST(CommandLine, SetHasKeyFlagsAndLength) {
  const CommandLine line = parse_command_line("set key 4294967295 0 12 noreply", {});
  EXPECT_EQ(line.request.kind, Kind::store);
  EXPECT_EQ(line.request.key, "key");
  EXPECT_EQ(line.request.flags, 4'294'967'295U);
  EXPECT_EQ(line.data_bytes, 12U);
  EXPECT_TRUE(line.request.is_quiet);
}

TEST(CommandLine, MetaSetHasKeyFlagsAndLength) {
  const CommandLine line = parse_command_line("ms key 5 F7 T0 MS q Oabc", {});
  EXPECT_EQ(line.request.kind, Kind::meta_set);
  EXPECT_EQ(line.request.key, "key");
  EXPECT_EQ(line.request.flags, 7U);
  EXPECT_EQ(line.data_bytes, 5U);
  EXPECT_TRUE(line.request.is_quiet);
}

TEST(CommandLine, KeysHaveUpTo250PrintableBytes) {
  EXPECT_TRUE(is_valid_key(std::string(250, 'k')));
  EXPECT_TRUE(is_valid_key("sch\xC3\xBCssel"));
  EXPECT_FALSE(is_valid_key(std::string(251, 'k')));
  EXPECT_FALSE(is_valid_key(""));
  EXPECT_FALSE(is_valid_key("a\tb"));
  EXPECT_FALSE(is_valid_key("a\x7F"));
}

TEST(CommandLine, ChangesSayWhatTheyRequire) {
  const auto request_of = [](std::string_view line) {
    return parse_command_line(line, {}).request;
  };
  EXPECT_EQ(request_of("add k 0 0 5").mode, StoreMode::add);
  EXPECT_EQ(request_of("replace k 0 0 5").mode, StoreMode::replace);
  EXPECT_EQ(request_of("append k 0 0 5").mode, StoreMode::append);
  EXPECT_EQ(request_of("prepend k 0 0 5 noreply").mode, StoreMode::prepend);
  EXPECT_EQ(request_of("cas k 0 0 5 18446744073709551615 noreply").cas,
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(request_of("incr k 7").arithmetic.delta, 7U);
  EXPECT_FALSE(request_of("incr k 7").arithmetic.decrements);
  EXPECT_TRUE(request_of("decr k 7 noreply").arithmetic.decrements);
  EXPECT_EQ(request_of("touch k 0").kind, Kind::touch);
  EXPECT_TRUE(request_of("gets k").wants_cas);
  EXPECT_FALSE(request_of("gat 0 k").wants_cas);
  EXPECT_TRUE(request_of("gats 0 k").wants_cas);
  EXPECT_EQ(request_of("flush_all 0 noreply").kind, Kind::flush_all);
  EXPECT_EQ(request_of("ms k 1 ME").mode, StoreMode::add);
  EXPECT_EQ(request_of("ms k 1 Mprepend C4").mode, StoreMode::prepend);
  EXPECT_EQ(request_of("ma k D5 M- N0 J8").arithmetic.initial, 8U);
  EXPECT_EQ(request_of("ma k J8").arithmetic.initial, std::nullopt);
}

TEST(CommandLine, RefusedChangesStillHaveTheirData) {
  constexpr std::array<std::string_view, 7> lines{
      "add k x 0 5",   "replace k 0 60 5", "append k 0 0 5 maybe", "prepend \x7F 0 0 5",
      "cas k 0 0 5 x", "set k 0 3600 5",   "set k 0 0 5 maybe",
  };
  for (const std::string_view line : lines) {
    const CommandLine parsed = parse_command_line(line, {});
    EXPECT_EQ(parsed.request.kind, Kind::refused) << line;
    EXPECT_EQ(parsed.data_bytes, 5U) << line;
    EXPECT_FALSE(parsed.request.ends_connection) << line;
  }
}

TEST(CommandLine, RefusesEverythingElseThatTheStoreCannotDo) {
  constexpr std::array<std::string_view, 9> lines{
      "touch k 10",         "gat 10 k",       "flush_all 5",       "me k",
      "slabs reassign 1 2", "lru tune 10 25", "cache_memlimit 64", "shutdown",
      "lru_crawler enable",
  };
  for (const std::string_view line : lines) {
    const CommandLine parsed = parse_command_line(line, {});
    EXPECT_EQ(parsed.request.kind, Kind::refused) << line;
    EXPECT_THAT(parsed.request.error, StartsWith("SERVER_ERROR ")) << line;
    EXPECT_THAT(parsed.request.error, HasSubstr(" is not supported: ")) << line;
    EXPECT_FALSE(parsed.data_bytes) << line;
  }
  EXPECT_EQ(parse_command_line("flush_all", {.permits_flush = false}).request.error,
            "CLIENT_ERROR flush_all not allowed");
}

TEST(CommandLine, NumbersAreNumbers) {
  const auto error_of = [](std::string_view line) {
    return parse_command_line(line, {}).request.error;
  };
  EXPECT_EQ(error_of("incr k x"), "CLIENT_ERROR invalid numeric delta argument");
  EXPECT_EQ(error_of("incr k -1"), "CLIENT_ERROR invalid numeric delta argument");
  EXPECT_EQ(error_of("incr k"), "ERROR");
  EXPECT_EQ(error_of("touch k"), "ERROR");
  EXPECT_EQ(error_of("touch k x"), "CLIENT_ERROR invalid exptime argument");
  EXPECT_EQ(error_of("gat x k"), "CLIENT_ERROR invalid exptime argument");
  EXPECT_EQ(error_of("flush_all x"), "CLIENT_ERROR invalid exptime argument");
}

TEST(CommandLine, UnknownCommandsAreErrors) {
  for (const std::string_view line : {"", " ", "GET k", "get", "verbosity", "gett k", "mx k",
                                      "gets", "stats noreply", "stats foo"}) {
    EXPECT_EQ(parse_command_line(line, {}).request.error, "ERROR") << line;
  }
}

TEST(CommandLine, AnUnknownLengthEndsTheConnection) {
  for (const std::string_view line :
       {"set k 0 0", "set k 0 0 -1", "set k 0 0 1x", "set k 0 0 2147483647", "ms k", "ms k S5",
        "add k 0 0 ", "cas k 0 0 x 1"}) {
    const CommandLine parsed = parse_command_line(line, {});
    EXPECT_EQ(parsed.request.error, "CLIENT_ERROR bad data chunk") << line;
    EXPECT_TRUE(parsed.request.ends_connection) << line;
  }
}

TEST(CommandLine, ATimeToLiveIsRefusedUnlessItIsIgnored) {
  const ParserOptions ignoring{.ignores_expiry = true};
  EXPECT_THAT(parse_command_line("set k 0 60 1", {}).request.error, HasSubstr("expiry 60"));
  EXPECT_THAT(parse_command_line("ms k 1 T60", {}).request.error, HasSubstr("expiry 60"));
  EXPECT_EQ(parse_command_line("set k 0 60 1", ignoring).request.kind, Kind::store);
  EXPECT_EQ(parse_command_line("ms k 1 T60", ignoring).request.kind, Kind::meta_set);
  // a value that has expired already is not to be kept
  EXPECT_THAT(parse_command_line("set k 0 -1 1", ignoring).request.error, HasSubstr("expiry -1"));
}

TEST(CommandLine, ATimeToLiveIsPassedOnToACache) {
  const ParserOptions cache{.is_cache = true};
  EXPECT_EQ(parse_command_line("set k 0 60 1", cache).request.exptime, 60);
  EXPECT_EQ(parse_command_line("set k 0 0 1", cache).request.exptime, 0);
  EXPECT_EQ(parse_command_line("set k 0 -1 1", cache).request.exptime, -1);
  EXPECT_EQ(parse_command_line("ms k 1 T60", cache).request.exptime, 60);
  EXPECT_EQ(parse_command_line("ms k 1", cache).request.exptime, std::nullopt);
  EXPECT_EQ(parse_command_line("set k 0 x 1", cache).request.error,
            "CLIENT_ERROR bad command line format");
  EXPECT_EQ(parse_command_line("mg k t", {}).request.kind, Kind::meta_get);
  EXPECT_EQ(parse_command_line("mg k t T60", cache).request.exptime, 60);
  EXPECT_EQ(parse_command_line("touch k 60", cache).request.exptime, 60);
  EXPECT_EQ(parse_command_line("gat 0 k", cache).request.exptime, 0);
  const ParserOptions ignoring{.ignores_expiry = true, .is_cache = true};
  EXPECT_EQ(parse_command_line("set k 0 60 1", ignoring).request.exptime, std::nullopt);
}

TEST(Exptime, IsRelativeUpToThirtyDays) {
  constexpr std::int64_t month = 60 * 60 * 24 * 30;
  constexpr std::int64_t now = 1'700'000'000;
  using fabric::second_ns;
  EXPECT_EQ(time_to_live_ns(0, now), 0U);
  EXPECT_EQ(time_to_live_ns(60, now), 60 * second_ns);
  EXPECT_EQ(time_to_live_ns(month, now), month * second_ns);
  EXPECT_EQ(time_to_live_ns(now + 5, now), 5 * second_ns);
  EXPECT_EQ(time_to_live_ns(month + 1, now), 1U);  // in 1970
  EXPECT_EQ(time_to_live_ns(now, now), 1U);
  EXPECT_EQ(time_to_live_ns(-1, now), 1U);
  EXPECT_EQ(time_to_live_ns(std::numeric_limits<std::int64_t>::max(), now),
            9'000'000'000 * second_ns);
}

TEST(CommandLine, MetaFlagsAreKnownOnceAndSupported) {
  const auto error_of = [](std::string_view line) {
    return parse_command_line(line, {}).request.error;
  };
  EXPECT_EQ(error_of("mg k v f s k t q O123"), "");
  EXPECT_EQ(error_of("mg k v v"), "CLIENT_ERROR duplicate flag");
  EXPECT_EQ(error_of("mg k y"), "CLIENT_ERROR invalid flag");
  EXPECT_EQ(error_of("mg k F1"), "CLIENT_ERROR invalid flag");
  EXPECT_EQ(error_of("mg k c"), "");
  EXPECT_EQ(error_of("mg k h"), "SERVER_ERROR flag h is not supported");
  EXPECT_EQ(error_of("mg k N30"), "SERVER_ERROR flag N is not supported");
  EXPECT_EQ(error_of("md k I"), "SERVER_ERROR flag I is not supported");
  EXPECT_EQ(error_of("md k C5"), "SERVER_ERROR flag C is not supported");
  EXPECT_EQ(error_of("ms k 1 Mx"), "CLIENT_ERROR invalid mode for ms");
  EXPECT_EQ(error_of("ma k Mx"), "CLIENT_ERROR invalid mode for ma");
  EXPECT_EQ(error_of("ma k Dx"), "CLIENT_ERROR invalid argument of flag D");
  EXPECT_EQ(error_of("ms k 1 Fx"), "CLIENT_ERROR invalid argument of flag F");
  EXPECT_EQ(error_of("mg k O" + std::string(33, 'o')), "CLIENT_ERROR invalid argument of flag O");
}

}  // namespace
}  // namespace falafel::memcached_front
