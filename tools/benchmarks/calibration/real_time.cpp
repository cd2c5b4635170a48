#include "tools/benchmarks/calibration/real_time.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <chrono>
#include <memory>
#include <new>
#include <thread>

#include "fabric/assert.h"
#include "falafel/fabric_choice.h"
#include "tools/benchmarks/store/parties.h"

namespace falafel::calibration {
namespace {

constexpr std::uint64_t interval_between_looks_ns = 1'000'000;
// Their entries and containers do not fit into the caches next to a processor.
constexpr std::uint64_t store_keys = 20'000;
// An emulated machine stores some hundred keys per second, and its network hides the caches.
constexpr std::uint64_t longest_store_load_ns = 5'000'000'000;

// The state of a calibration, in memory that its processes share.
struct SharedState {
  std::atomic<bool> serves = false;
  std::atomic<bool> is_over = false;
  Board board;
};

struct Unmap {
  void operator()(SharedState* state) const {
    state->~SharedState();
    munmap(state, sizeof *state);
  }
};

std::unique_ptr<SharedState, Unmap> make_shared_state() {
  void* const memory =
      mmap(nullptr, sizeof(SharedState), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  FALAFEL_ASSERT(memory != MAP_FAILED, "cannot allocate {} bytes of memory", sizeof(SharedState));
  return std::unique_ptr<SharedState, Unmap>(new (memory) SharedState);
}

class Calibration {
 public:
  Calibration(const RealTimeOptions& options, std::span<const Load> loads)
      : options_(options), fabric_(options.fabric) {
    if (options.server.empty() && fabric_.directory.empty()) fabric_.directory = directory_.path();
    server_name_ = options.server.empty() ? own_server_name(fabric_) : options.server;
    for (const Load& load : loads) {
      loads_.push_back({.load = load, .duration_ns = options.duration_ns});
    }
  }

  tl::expected<Measurement, std::string> run(
      const std::function<void(std::uint64_t)>& on_progress) {
    store_benchmark::ChildProcesses children;
    if (options_.server.empty()) {
      children.start("the server", [this] { be_server(); });
    } else {
      state_->serves = true;
    }
    for (std::uint32_t number = 0; number < options_.clients; ++number) {
      children.start(fmt::format("client {}", number), [this, number] { be_client(number); });
    }
    while (!state_->board.has_failed && state_->board.clients_over < options_.clients) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      on_progress(state_->board.loads_ended / options_.clients);
      if (const auto dead = children.find_dead()) state_->board.fail(*dead);
    }
    state_->is_over = true;
    if (state_->board.has_failed) return tl::unexpected(std::string(state_->board.failure.get()));
    children.wait_for_all();
    return sum_up(loads_, state_->board);
  }

 private:
  void be_server() {
    auto fabric = open_fabric(fabric_);
    if (!fabric) return state_->board.fail(fabric.error().detail);
    auto host = (*fabric)->create_host(server_name_);
    if (!host) return state_->board.fail(host.error().detail);
    (*host)->run_program([&] {
      const auto served = serve(
          **host,
          [this] {
            state_->serves = true;
            return state_->is_over.load();
          },
          10 * interval_between_looks_ns);
      if (!served) state_->board.fail(served.error());
    });
  }

  void be_client(std::uint32_t number) {
    while (!state_->serves && !state_->is_over) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    auto fabric = open_fabric(fabric_);
    if (!fabric) return state_->board.fail(fabric.error().detail);
    auto host = (*fabric)->create_client_host();
    if (!host) return state_->board.fail(host.error().detail);
    (*host)->run_program([&] {
      run_client(**host,
                 {.server = {.host = server_name_, .service = service},
                  .number = number,
                  .clients = options_.clients,
                  .interval_ns = interval_between_looks_ns,
                  .store_keys = store_keys,
                  .longest_store_load_ns = longest_store_load_ns},
                 loads_, state_->board);
    });
  }

  const RealTimeOptions& options_;
  FabricOptions fabric_;
  store_benchmark::TemporaryDirectory directory_;
  std::string server_name_;
  std::vector<TimedLoad> loads_;
  std::unique_ptr<SharedState, Unmap> state_ = make_shared_state();
};

}  // namespace

tl::expected<std::vector<Measurement>, std::string> measure_in_real_time(
    const RealTimeOptions& options, std::span<const Load> loads,
    const std::function<void(std::uint64_t done, std::uint64_t all)>& on_progress) {
  std::vector<Measurement> rounds;
  for (std::uint32_t round = 0; round < options.rounds; ++round) {
    auto measured = Calibration(options, loads).run([&](std::uint64_t done) {
      on_progress(round * loads.size() + done, options.rounds * loads.size());
    });
    if (!measured) return tl::unexpected(measured.error());
    rounds.push_back(std::move(*measured));
  }
  return rounds;
}

tl::expected<void, std::string> serve_forever(const FabricOptions& options) {
  auto fabric = open_fabric(options);
  if (!fabric) return tl::unexpected(fabric.error().detail);
  auto host = (*fabric)->create_host(own_server_name(options));
  if (!host) return tl::unexpected(host.error().detail);
  tl::expected<void, std::string> served;
  (*host)->run_program([&] {
    served = serve(
        **host, [] { return false; }, 10 * interval_between_looks_ns);
  });
  return served;
}

}  // namespace falafel::calibration
