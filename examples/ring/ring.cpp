// A ring buffer: one client produces messages of several words by RDMA WRITE, and the server's
// processor consumes them. The producer reads how many messages have been consumed, so it never
// overwrites one that is still needed.
//
// The mistake: the consumer waits for the last word of the next message, which contains the
// message's number, and then reads the others. That relies on a device that places words in
// ascending order (DeviceAttributes::places_in_address_order), and on a processor that sees them in
// that order. Without that promise, the last word may be there before the first one, and the
// message that is read is a mixture of two.
//
// The cure: every word contains the number of its message, and the consumer waits for each of them.
#include <falafel/checkers/specifications/queue.h>
#include <falafel/explorer/check.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace {

namespace check = falafel::check;
namespace fabric = falafel::fabric;
using falafel::checkers::specifications::Queue;

// The server's memory: the number of consumed messages, then the messages.
constexpr std::uint64_t consumed = 0;
constexpr std::uint64_t ring = 8;
constexpr std::uint64_t slots = 2;
constexpr std::uint64_t words = 3;  // of a message: 32 bits of the value in each
constexpr std::uint64_t memory_bytes = ring + slots * words * fabric::word_bytes;

constexpr std::uint64_t slot_of(std::uint64_t message) {
  return ring + message % slots * words * fabric::word_bytes;
}
// Messages are numbered from 0, but memory that has never been written contains no message.
constexpr std::uint64_t word_of(std::uint64_t message, std::uint64_t value) {
  return (message + 1) << 32 | value;
}
constexpr std::uint64_t message_in(std::uint64_t word) { return (word >> 32) - 1; }
constexpr std::uint64_t value_in(std::uint64_t word) { return word & 0xffff'ffff; }

void produce(check::RemoteMemory& memory, std::uint64_t message, std::uint64_t value) {
  while (message - memory.read(consumed) >= slots) {
  }
  std::array<std::uint64_t, words> slot{};
  slot.fill(word_of(message, value));
  memory.write(slot_of(message), std::as_bytes(std::span(slot)));
}

std::uint64_t consume(fabric::MemoryBlock& memory, std::uint64_t message, bool checks_each_word) {
  const std::uint64_t slot = slot_of(message);
  const std::uint64_t last = slot + (words - 1) * fabric::word_bytes;
  for (std::uint64_t offset = checks_each_word ? slot : last; offset <= last;
       offset += fabric::word_bytes) {
    std::uint64_t word = memory.load(offset);
    while (message_in(word) != message) {
      word = memory.wait_until_changed(offset, word, fabric::never_ns);
    }
  }
  const std::uint64_t value = value_in(memory.load(slot));
  memory.store(consumed, message + 1);
  return value;
}

void test(check::World& world, bool has_mistake) {
  const std::uint64_t messages = 1 + world.choose(5);
  constexpr std::uint32_t producer = 0;
  constexpr std::uint32_t consumer = 1;
  auto& history = world.history<Queue>();
  world.name(consumed, fabric::word_bytes, "consumed");
  world.name(ring, slots * words * fabric::word_bytes, "ring");

  world.server("server", [&](fabric::Host& host) {
    check::MemoryServer server(host, memory_bytes);
    host.spawn({.name = "consumer", .daemon = true}, [&, memory = server.memory()] {
      for (std::uint64_t message = 0; message < messages; ++message) {
        history.call(consumer, Queue::Pop{},
                     [&] { return Queue::Result(consume(*memory, message, !has_mistake)); });
      }
    });
    server.serve();
  });
  world.client("producer", [&](fabric::Host& host) {
    check::RemoteMemory memory(host, "server");
    for (std::uint64_t message = 0; message < messages; ++message) {
      const std::uint64_t value = 10 + message;
      history.call(producer, Queue::Push{value}, [&] { produce(memory, message, value); });
    }
    while (memory.read(consumed) != messages) {
    }
  });
  world.run();
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::string_view variant = argument_count == 2 ? arguments[1] : "";
  if (variant != "mistake" && variant != "cure") {
    std::fputs("usage: ring mistake|cure\n", stderr);
    return 2;
  }
  const bool has_mistake = variant == "mistake";
  const check::Result result =
      check::random({.name = std::string("ring.").append(variant)},
                    [=](check::World& world) { test(world, has_mistake); });
  std::fputs(result.story().c_str(), stdout);
  return result.holds() ? 0 : 1;
}
