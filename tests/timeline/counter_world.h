// A program without any knowledge of timelines: clients increment a counter by READ and WRITE, so
// updates may be lost. They also write a record of several words.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "explorer/check.h"

namespace falafel::timeline {

struct CounterSpecification {
  using State = std::uint64_t;
  struct Operation {
    std::uint64_t addend = 0;
    friend bool operator==(const Operation&, const Operation&) = default;
  };
  using Result = std::uint64_t;  // the count after the operation

  static State initial() { return 0; }
  static bool apply(State& state, const Operation& operation, const Result* result) {
    state += operation.addend;
    return result == nullptr || *result == state;
  }
  static std::string describe(const Operation& operation, const Result* result) {
    const std::string call = fmt::format("add {}", operation.addend);
    return result == nullptr ? call : fmt::format("{} -> {}", call, *result);
  }
};

inline constexpr std::uint64_t counter_offset = 64;
inline constexpr std::uint64_t record_offset = 128;
inline constexpr std::uint64_t record_words = 4;

inline void count_in_world(check::World& world) {
  world.name(counter_offset, fabric::word_bytes, "the counter");
  world.name(record_offset, record_words * fabric::word_bytes, "record");
  auto& history = world.history<CounterSpecification>();
  world.server("server", [](fabric::Host& host) {
    check::MemoryServer server(host, 256);
    server.serve();
  });
  world.clients(2, [&](fabric::Host& host, std::uint32_t client) {
    check::RemoteMemory remote(host, "server");
    history.call(client, {.addend = 1}, [&] {
      const std::uint64_t seen = remote.read(counter_offset);
      world.note(host, fmt::format("has read {}", seen));
      remote.write(counter_offset, seen + 1);
      return seen + 1;
    });
    const std::vector<std::uint64_t> record(record_words, client + 1);
    remote.write(record_offset, std::as_bytes(std::span(record)));
  });
  world.run();
}

inline std::unique_ptr<check::WorldProgram> counter_program() {
  return check::program("counter of the timeline tests", count_in_world);
}

}  // namespace falafel::timeline
