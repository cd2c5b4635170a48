// Stores many keys in a running store with one client, and prints the time per key and the longest
// SET: what growth costs. docs/store.md ("Memory that grows") has figures.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include "falafel/store.h"

namespace falafel {
namespace {

struct FillingOptions {
  StoreOptions store;
  std::uint64_t keys = 10'000'000;
  std::size_t value_bytes = 24;
};

std::string key_of(std::uint64_t number) { return fmt::format("key {:010}", number); }

int fill(const FillingOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::duration duration) {
    return std::chrono::duration<double>(duration).count();
  };
  const auto store = Store::open(options.store);
  if (!store) {
    fmt::print(stderr, "cannot connect: {}\n", store.error().detail);
    return 1;
  }
  const std::string value(options.value_bytes, 'v');
  Clock::duration longest{};
  const Clock::time_point begin = Clock::now();
  Clock::time_point before = begin;
  for (std::uint64_t key = 0; key < options.keys; ++key) {
    const engine::SetResult result = (*store)->set(key_of(key), value);
    const Clock::time_point now = Clock::now();
    longest = std::max(longest, now - before);
    before = now;
    if (result.answer == engine::Answer::stored) continue;
    fmt::print(stderr, "key {} of {}: {}\n", key, options.keys, to_string(result.answer));
    return 1;
  }
  const double all_seconds = seconds(before - begin);
  fmt::print(
      "{} keys with values of {} bytes: {:.1f} s, {:.2f} us per key, longest SET {:.1f} ms\n",
      options.keys, options.value_bytes, all_seconds,
      1e6 * all_seconds / static_cast<double>(options.keys), 1e3 * seconds(longest));
  return 0;
}

}  // namespace
}  // namespace falafel

int main(int count, char** words) {
  falafel::FillingOptions options;
  CLI::App app("Stores many keys in a running store, and prints how long they take.");
  app.add_option("--name", options.store.server, "the server's name")->capture_default_str();
  app.add_option("--directory", options.store.fabric.directory, "folder of the servers' sockets");
  app.add_option("--keys", options.keys, "number of keys")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{10'000'000'000}))
      ->capture_default_str();
  app.add_option("--value-bytes", options.value_bytes, "length of each value in bytes")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1'000'000}))
      ->capture_default_str();
  CLI11_PARSE(app, count, words);
  return falafel::fill(options);
}
