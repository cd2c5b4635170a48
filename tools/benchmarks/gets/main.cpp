// GETs from shared memory, for callgrind: server and client are threads of this process, and all
// GETs are in one function, so nothing else is counted. docs/benchmarks.md has the command and
// figures.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <thread>
#include <vector>

#include "engine/client/client.h"
#include "engine/server/server.h"
#include "fabric/assert.h"
#include "fabric/realtime/clock.h"
#include "fabric/shm/process.h"
#include "fabric/time_units.h"
#include "tools/benchmarks/store/options.h"
#include "tools/benchmarks/store/parties.h"
#include "tools/benchmarks/store/record.h"

namespace falafel {
namespace {

using engine::Answer;
using engine::Client;
using store_benchmark::BenchmarkOptions;

struct Gets {
  Gets() { store.keys = 20'000; }

  BenchmarkOptions store;
  std::uint64_t count = 100'000;
};

template <typename Value>
Value must(fabric::Result<Value> result) {
  FALAFEL_ASSERT(result.has_value(), "{}", result.error().detail);
  return std::move(*result);
}

std::vector<std::byte> key_of(std::uint64_t number, std::uint64_t key_bytes) {
  std::vector<std::byte> key(key_bytes);
  store_benchmark::write_key(number, key);
  return key;
}

// Callgrind counts what this function does, for keys of equal length that follow each other.
// Returns how many keys were found.
[[gnu::noinline]] std::uint64_t measured_gets(Client& client, std::span<const std::byte> keys,
                                              std::uint64_t key_bytes) {
  std::uint64_t found = 0;
  for (; !keys.empty(); keys = keys.subspan(key_bytes)) {
    if (client.get(keys.first(key_bytes)).answer == Answer::found) ++found;
  }
  return found;
}

class Run {
 public:
  explicit Run(const Gets& gets) : gets_(gets) {}

  void serve() {
    const auto process = make_process();
    const auto host = must(process->create_host("server"));
    host->run_program([&] {
      const auto server = must(engine::Server::start(*host, server_options(gets_.store)));
      is_ready_ = true;
      while (!is_done_) host->sleep_until(host->now_ns() + fabric::millisecond_ns);
    });
  }

  void be_client() {
    while (!is_ready_) std::this_thread::yield();
    const auto process = make_process();
    const auto host = must(process->create_host("client"));
    // The readahead that `falafel bench` uses over shared memory.
    const engine::ReadaheadOptions readahead{.chunk_entries = 8,
                                             .container_bytes = 128,
                                             .containers = 1,
                                             .adaptive = true,
                                             .validation = false};
    host->run_program([&] {
      const auto client = must(
          Client::connect(*host, {.host = "server", .service = server_options(gets_.store).service},
                          client_options(gets_.store, readahead, {})));
      fill(*client);
      measure(*client);
      client->disconnect();
    });
    is_done_ = true;
  }

 private:
  std::unique_ptr<shm::Process> make_process() const {
    const std::uint64_t for_messages_bytes = std::uint64_t{1} << 26U;
    return must(shm::Process::create(
        {.directory = directory_.path(),
         .memory_limit_bytes = geometry_for(gets_.store).chunk_bytes() + for_messages_bytes}));
  }

  void fill(Client& client) const {
    const std::vector<std::byte> value(gets_.store.value_bytes);
    for (std::uint64_t key = 0; key < gets_.store.keys; ++key) {
      const Answer answer = client.set(key_of(key, gets_.store.key_bytes), value).answer;
      FALAFEL_ASSERT(answer == Answer::stored, "SET of key {} answered {}", key, to_string(answer));
    }
  }

  void measure(Client& client) const {
    std::mt19937_64 random(gets_.store.seed);
    std::vector<std::byte> keys;
    for (std::uint64_t get = 0; get < gets_.count; ++get) {
      const auto key = key_of(random() % gets_.store.keys, gets_.store.key_bytes);
      keys.insert(keys.end(), key.begin(), key.end());
    }
    const std::uint64_t verbs_before = client.statistics().verbs;
    const std::uint64_t begin_ns = fabric::monotonic_ns();
    const std::uint64_t found = measured_gets(client, keys, gets_.store.key_bytes);
    const std::uint64_t end_ns = fabric::monotonic_ns();
    FALAFEL_ASSERT(found == gets_.count, "{} of {} keys were found", found, gets_.count);
    const auto count = static_cast<double>(gets_.count);
    fmt::print("{} GETs of {:.2f} READs in {:.0f} ns each\n", gets_.count,
               static_cast<double>(client.statistics().verbs - verbs_before) / count,
               static_cast<double>(end_ns - begin_ns) / count);
  }

  const Gets& gets_;
  store_benchmark::TemporaryDirectory directory_;
  std::atomic<bool> is_ready_ = false;
  std::atomic<bool> is_done_ = false;
};

}  // namespace
}  // namespace falafel

int main(int count, char** words) {
  falafel::Gets gets;
  CLI::App app("GETs from shared memory in one function, for callgrind.");
  app.add_option("--keys", gets.store.keys, "number of keys")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{100'000'000}))
      ->capture_default_str();
  app.add_option("--gets", gets.count, "number of GETs, of keys drawn at random")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{100'000'000}))
      ->capture_default_str();
  app.add_option("--fingerprint-bits", gets.store.reference_bits.fingerprint,
                 "bits of a key's hash in its entry (default: as many as the memory leaves)");
  app.add_option("--size-class-bits", gets.store.reference_bits.size_class,
                 "bits in an entry for the length of its container");
  CLI11_PARSE(app, count, words);
  falafel::Run run(gets);
  std::jthread server([&run] { run.serve(); });
  run.be_client();
  return 0;
}
