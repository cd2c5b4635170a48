// Servers at rest that are not well formed.
#include "stores/two_sided/invariants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/stores/two_sided/bytes.h"

namespace falafel::two_sided {
namespace {

using testing::ElementsAre;
using two_sided_test::bytes_of;

// Two buckets, with key "a" in the right one.
ServerInspection good_server() {
  ServerInspection server;
  server.table.keys.resize(2);
  server.table.keys[bucket_number(bytes_of("a"), 2)] = {bytes_of("a")};
  server.statistics.pairs = 1;
  server.statistics.workers = 3;
  server.statistics.clients_connected = 3;
  return server;
}

TEST(Invariants, HoldOfAGoodServer) { EXPECT_THAT(find_problems(good_server()), ElementsAre()); }

TEST(Invariants, KeysAreInTheirBuckets) {
  ServerInspection server = good_server();
  std::swap(server.table.keys[0], server.table.keys[1]);
  const bool is_first = !server.table.keys[0].empty();
  EXPECT_THAT(find_problems(server), ElementsAre(is_first ? "bucket 0 has a key of bucket 1"
                                                          : "bucket 1 has a key of bucket 0"));
}

TEST(Invariants, NoKeyIsThereTwice) {
  ServerInspection server = good_server();
  const auto bucket = bucket_number(bytes_of("a"), 2);
  server.table.keys[bucket].push_back(bytes_of("a"));
  server.statistics.pairs = 2;
  EXPECT_THAT(find_problems(server),
              ElementsAre("bucket " + std::to_string(bucket) + " has a key twice"));
}

TEST(Invariants, AllPairsAreListed) {
  ServerInspection server = good_server();
  server.statistics.pairs = 2;
  EXPECT_THAT(find_problems(server), ElementsAre("2 pairs are in use, but the lists have 1"));
}

TEST(Invariants, ListsHaveEnds) {
  ServerInspection server = good_server();
  server.table.rings = 1;
  EXPECT_THAT(find_problems(server), ElementsAre("a list has no end"));
}

TEST(Invariants, NoLockIsHeld) {
  ServerInspection server = good_server();
  server.table.locks_held = 1;
  EXPECT_THAT(find_problems(server), ElementsAre("1 locks are held"));
}

TEST(Invariants, EachClientHasAWorker) {
  ServerInspection server = good_server();
  server.statistics.workers = 2;
  EXPECT_THAT(find_problems(server), ElementsAre("there are 2 workers for 3 connected clients"));
}

}  // namespace
}  // namespace falafel::two_sided
