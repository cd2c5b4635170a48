#include "tools/benchmarks/store/killed_client.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <span>
#include <thread>

#include "fabric/assert.h"
#include "fabric/realtime/clock.h"
#include "tools/benchmarks/store/conductor.h"
#include "tools/benchmarks/store/system_time.h"

namespace falafel::store_benchmark {
namespace {

// The operations that a number of clients have done since, and how long that took.
class Count {
 public:
  explicit Count(std::span<const ClientPart> clients) : clients_(clients) {}

  double seconds() const { return static_cast<double>(fabric::monotonic_ns() - began_ns_) / 1e9; }
  std::uint64_t operations() const { return sum() - operations_; }

 private:
  std::uint64_t sum() const {
    std::uint64_t operations = 0;
    for (const ClientPart& client : clients_) {
      operations += client.operations.load(std::memory_order_relaxed);
    }
    return operations;
  }

  std::span<const ClientPart> clients_;
  std::uint64_t operations_ = sum();
  std::uint64_t began_ns_ = fabric::monotonic_ns();
};

}  // namespace

std::string client_name(std::uint32_t client) { return fmt::format("client {}", client); }

tl::expected<KilledClient, std::string> kill_first_client(const BenchmarkOptions& options,
                                                          Board& board, ChildProcesses& parties) {
  FALAFEL_ASSERT(options.clients >= 2, "{} clients, and one is killed", options.clients);
  // Clients reset their counters when the run begins.
  constexpr auto until_counters_are_reset = std::chrono::milliseconds(20);
  const ConductedRun loaded =
      Conductor(options, board, system_time(), {}, [&] { return parties.find_dead(); }).load();
  if (loaded.failure) return tl::unexpected(*loaded.failure);
  std::this_thread::sleep_for(until_counters_are_reset);

  const std::chrono::duration<double> half(options.seconds / 2);
  const std::span<const ClientPart> others = std::span<const ClientPart>(board.clients).subspan(1);
  KilledClient killed;
  const Count before(others);
  std::this_thread::sleep_for(half);
  parties.kill(client_name(0));
  killed.operations_before = before.operations();
  killed.seconds_before = before.seconds();
  const Count after(others);
  std::this_thread::sleep_for(half);
  killed.operations_after = after.operations();
  killed.seconds_after = after.seconds();
  board.phase = Phase::over;
  return killed;
}

std::string to_json(const KilledClient& killed) {
  const nlohmann::ordered_json json{{"seconds_before", killed.seconds_before},
                                    {"operations_before", killed.operations_before},
                                    {"seconds_after", killed.seconds_after},
                                    {"operations_after", killed.operations_after}};
  return json.dump(2) + "\n";
}

}  // namespace falafel::store_benchmark
