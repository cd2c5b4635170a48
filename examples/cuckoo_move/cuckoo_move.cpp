// A cuckoo hash table: a key is in one of two buckets. Clients READ both. The server's processor
// moves a key to its other bucket to make room, and stores it there before it clears the first.
//
// The mistake: the reader believes that it cannot miss a key that is always in one of the buckets.
// It finds the first bucket empty while the key is in the second one; the key moves back to the
// first; and then the reader finds the second bucket empty. The key was never absent.
//
// The cure, as in MemC3 (Fan, Andersen, Kaminsky, NSDI 2013): a version word, which the server
// makes odd before a move and even after it. The reader reads it before and after the buckets, and
// starts over if it is odd or has changed. READs sample memory in any order, so each has a fence.
#include <falafel/checkers/specifications/key_value_map.h>
#include <falafel/explorer/check.h>
#include <falafel/explorer/check/endpoint.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace {

namespace check = falafel::check;
namespace fabric = falafel::fabric;
using Map = falafel::checkers::specifications::BasicKeyValueMap<std::uint64_t, std::uint64_t>;

// The server's memory. A bucket contains a key and its value, or 0.
constexpr std::uint64_t version = 0;
constexpr std::array<std::uint64_t, 2> buckets{8, 16};
constexpr std::uint64_t memory_bytes = 24;

constexpr std::uint64_t key = 7;
constexpr std::uint64_t value = 42;
constexpr std::uint64_t entry = key << 32 | value;
constexpr bool contains_key(std::uint64_t bucket) { return bucket >> 32 == key; }
constexpr std::uint64_t value_in(std::uint64_t bucket) { return bucket & 0xffff'ffff; }

void move(fabric::MemoryBlock& memory, std::uint64_t from, std::uint64_t to) {
  const std::uint64_t before = memory.load(version);
  memory.store(version, before + 1);
  memory.store(to, memory.load(from));
  memory.store(from, 0);
  memory.store(version, before + 2);
}

Map::Result find(check::Connection& connection, bool compares_versions) {
  const check::RemoteRegion& table = connection.region("table");
  while (true) {
    const check::Outcome outcome = connection.execute(check::Chain()
                                                          .read(table, version)
                                                          .read(table, buckets[0])
                                                          .fenced()
                                                          .read(table, buckets[1])
                                                          .fenced()
                                                          .read(table, version)
                                                          .fenced());
    const bool is_still = outcome.word(0) % 2 == 0 && outcome.word(0) == outcome.word(3);
    if (compares_versions && !is_still) continue;
    if (contains_key(outcome.word(1))) return Map::found(value_in(outcome.word(1)));
    if (contains_key(outcome.word(2))) return Map::found(value_in(outcome.word(2)));
    return Map::absent();
  }
}

void test(check::World& world, bool has_mistake) {
  const std::uint64_t moves = 1 + world.choose(4);
  const auto readers = static_cast<std::uint32_t>(1 + world.choose(2));
  const std::uint64_t reads = 1 + world.choose(3);  // of each reader
  auto& history = world.history<Map>();
  world.name(version, fabric::word_bytes, "version");
  world.name(buckets[0], fabric::word_bytes, "first bucket");
  world.name(buckets[1], fabric::word_bytes, "second bucket");

  world.server("server", [&](fabric::Host& host) {
    check::Endpoint endpoint(host);
    host.spawn({.name = "table", .daemon = true},
               [&, memory = endpoint.share("table", memory_bytes, {.remote_read = true})] {
                 // A swap is visible to readers when it returns.
                 history.call(readers, Map::Set{key, value},
                              [&] { memory->compare_and_swap(buckets[0], 0, entry); });
                 for (std::uint64_t number = 0; number < moves; ++number) {
                   move(*memory, buckets.at(number % 2), buckets.at((number + 1) % 2));
                 }
               });
    endpoint.serve();
  });
  world.clients(readers, [&](fabric::Host& host, std::uint32_t client) {
    check::Endpoint endpoint(host);
    const auto connection = endpoint.connect("server");
    for (std::uint64_t number = 0; number < reads; ++number) {
      history.call(client, Map::Get{key}, [&] { return find(*connection, !has_mistake); });
    }
  });
  world.run();
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::string_view variant = argument_count == 2 ? arguments[1] : "";
  if (variant != "mistake" && variant != "cure") {
    std::fputs("usage: cuckoo_move mistake|cure\n", stderr);
    return 2;
  }
  const bool has_mistake = variant == "mistake";
  const check::Result result =
      check::random({.name = std::string("cuckoo_move.").append(variant)},
                    [=](check::World& world) { test(world, has_mistake); });
  std::fputs(result.story().c_str(), stdout);
  return result.holds() ? 0 : 1;
}
