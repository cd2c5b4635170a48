// Stores and reads a value, then stores a hundred values with many operations in flight.
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "engine/client/client.h"
#include "fabric/fabric.h"
#include "falafel/store.h"

namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

void store_hundred(falafel::fabric::Host& host, falafel::engine::Client& client) {
  constexpr int writers = 10;
  std::vector<falafel::fabric::FiberId> fibers;
  fibers.reserve(writers);
  for (int fiber = 0; fiber < writers; ++fiber) {
    fibers.push_back(host.spawn({.name = "writer"}, [&client, fiber] {
      for (int number = fiber; number < 100; number += writers) {
        const std::string key = "key " + std::to_string(number);
        client.set(bytes_of(key), bytes_of(std::to_string(number * number)));
      }
    }));
  }
  for (const falafel::fabric::FiberId fiber : fibers) host.join(fiber);
}

}  // namespace

int main() {
  auto store = falafel::Store::open({});
  if (!store) {
    std::fprintf(stderr, "%s\n", store.error().detail.c_str());
    return 1;
  }
  (*store)->set("greeting", "hello");
  const auto greeting = (*store)->get("greeting");
  std::printf("greeting: %s\n", std::string(falafel::text_of(greeting.value)).c_str());
  (*store)->run(store_hundred);
  const auto square = (*store)->get("key 12");
  std::printf("12 squared: %s\n", std::string(falafel::text_of(square.value)).c_str());
  return 0;
}
