// An object of several words that clients read by one READ, without a lock. The server's processor
// changes it word by word, and each word contains the version of the object beside its share of the
// value, as each cache line does in FaRM (Dragojevic et al., NSDI 2014). Here a word is the largest
// unit that is never torn. Pilaf (Mitchell et al., USENIX ATC 2013) uses a checksum instead.
//
// The mistake: the reader compares the versions of the first word and of the last one only. A READ
// samples its words in any order and at different times, so the words between them may be older.
// Ascending order on both sides does not help: the writer may overtake the reader, or follow it.
//
// The cure: the reader compares the versions of all words, and reads again if they differ.
#include <falafel/checkers/specifications/multi_register.h>
#include <falafel/explorer/check.h>
#include <falafel/explorer/check/endpoint.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

namespace {

namespace check = falafel::check;
namespace fabric = falafel::fabric;

constexpr std::uint64_t words = 3;
constexpr std::uint64_t object_bytes = words * fabric::word_bytes;
// A word that the server swaps for another reason: it is a fence for its processor.
constexpr std::uint64_t fence_word = object_bytes;
constexpr std::uint64_t memory_bytes = object_bytes + fabric::word_bytes;

// The version is in the upper half of a word, and a part of the value in the lower half.
constexpr std::uint64_t version_in(std::uint64_t word) { return word >> 32; }
constexpr std::uint64_t part_in(std::uint64_t word) { return word & 0xffff'ffff; }

// All parts are written at once and read at once.
using Object = falafel::checkers::specifications::BasicMultiRegister<std::uint64_t, std::uint64_t>;
Object::Operation read_all() {
  Object::Operation operation;
  for (std::uint64_t word = 0; word < words; ++word) operation.push_back(Object::read(word));
  return operation;
}
Object::Operation write_all(std::uint64_t value) {
  Object::Operation operation;
  for (std::uint64_t word = 0; word < words; ++word)
    operation.push_back(Object::write(word, value));
  return operation;
}

void write(fabric::MemoryBlock& memory, std::uint64_t version, std::uint64_t value) {
  for (std::uint64_t word = 0; word < words; ++word) {
    memory.store(word * fabric::word_bytes, version << 32 | value);
  }
  // Readers see the stores late. The write ends when all of them are visible.
  memory.compare_and_swap(fence_word, 0, 0);
}

Object::Result read(check::Connection& connection, bool compares_each_word) {
  while (true) {
    const check::Outcome outcome =
        connection.execute(check::Chain().read(connection.region("object"), 0, object_bytes));
    std::array<std::uint64_t, words> sample{};
    std::memcpy(sample.data(), outcome.bytes(0).data(), object_bytes);
    bool is_whole = version_in(sample.front()) == version_in(sample.back());
    Object::Result parts;
    for (const std::uint64_t word : sample) {
      parts.push_back(part_in(word));
      if (compares_each_word && version_in(word) != version_in(sample.front())) is_whole = false;
    }
    if (is_whole) return parts;
  }
}

void test(check::World& world, bool has_mistake) {
  const std::uint64_t writes = 1 + world.choose(3);
  const auto readers = static_cast<std::uint32_t>(1 + world.choose(2));
  const std::uint64_t reads = 1 + world.choose(3);  // of each reader
  auto& history = world.history<Object>();
  world.name(0, object_bytes, "object");

  world.server("server", [&](fabric::Host& host) {
    check::Endpoint endpoint(host);
    host.spawn({.name = "writer", .daemon = true},
               [&, memory = endpoint.share("object", memory_bytes, {.remote_read = true})] {
                 for (std::uint64_t version = 1; version <= writes; ++version) {
                   const std::uint64_t value = 10 * version;
                   history.call(readers, write_all(value), [&] { write(*memory, version, value); });
                 }
               });
    endpoint.serve();
  });
  world.clients(readers, [&](fabric::Host& host, std::uint32_t client) {
    check::Endpoint endpoint(host);
    const auto connection = endpoint.connect("server");
    for (std::uint64_t number = 0; number < reads; ++number) {
      history.call(client, read_all(), [&] { return read(*connection, !has_mistake); });
    }
  });
  world.run();
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::string_view variant = argument_count == 2 ? arguments[1] : "";
  if (variant != "mistake" && variant != "cure") {
    std::fputs("usage: versioned_object mistake|cure\n", stderr);
    return 2;
  }
  const bool has_mistake = variant == "mistake";
  const check::Result result =
      check::random({.name = std::string("versioned_object.").append(variant)},
                    [=](check::World& world) { test(world, has_mistake); });
  std::fputs(result.story().c_str(), stdout);
  return result.holds() ? 0 : 1;
}
