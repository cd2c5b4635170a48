#include "tools/bench/shm_benchmark.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "fabric/realtime/clock.h"
#include "falafel/connecting.h"
#include "falafel/fabric_choice.h"
#include "tools/bench/client_run.h"
#include "tools/bench/parties.h"

namespace falafel::bench {
namespace {

constexpr const char* server_name = "bench";

Timekeeper system_time() {
  return {.now_ns = fabric::monotonic_ns, .sleep = [](std::uint64_t duration_ns) {
            std::this_thread::sleep_for(std::chrono::nanoseconds(duration_ns));
          }};
}

class SharedMemoryBenchmark {
 public:
  SharedMemoryBenchmark(const BenchmarkOptions& options, bool huge_pages,
                        std::function<void(const Progress&)> on_progress)
      : options_(options), huge_pages_(huge_pages), on_progress_(std::move(on_progress)) {}

  tl::expected<BenchmarkResult, std::string> run(Parties parties) {
    const ConductedRun run = parties == Parties::processes ? run_processes() : run_threads();
    if (run.failure) return tl::unexpected(*run.failure);
    BenchmarkResult result = sum_up(options_, *board_, run);
    result.fabric =
        fmt::format("shm ({})", parties == Parties::processes ? "processes" : "threads");
    result.clock = "the processor's time stamp counter, around every operation";
    return result;
  }

 private:
  ConductedRun run_processes() {
    ChildProcesses children;
    children.start("the server", [this] { serve(); });
    for (std::uint32_t client = 0; client < options_.clients; ++client) {
      children.start(fmt::format("client {}", client), [this, client] { be_client(client); });
    }
    ConductedRun run = conduct([&] { return children.find_dead(); });
    if (!run.failure) children.wait_for_all();
    return run;
  }

  ConductedRun run_threads() {
    std::vector<std::jthread> threads;
    threads.emplace_back([this] { serve(); });
    for (std::uint32_t client = 0; client < options_.clients; ++client) {
      threads.emplace_back([this, client] { be_client(client); });
    }
    return conduct({});
  }

  ConductedRun conduct(std::function<std::optional<std::string>()> find_dead) {
    return Conductor(options_, *board_, system_time(), on_progress_, std::move(find_dead)).run();
  }

  void serve() {
    run_program(server_name, board_->server,
                [this](fabric::Host& host, const Fabric&) { run_server(host, options_, *board_); });
  }

  void be_client(std::uint32_t client) {
    while (board_->server.state == PartyState::starting && board_->phase != Phase::over) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    run_program("client", board_->clients[client],
                [this, client](fabric::Host& host, const Fabric& fabric) {
                  const ClientPlace place{.server = address_of(server_name),
                                          .readahead = fabric.readahead(),
                                          .clock = OperationClock::of_processor(),
                                          .number = client};
                  run_client(host, place, options_, *board_);
                });
  }

  // Each party has a process of the fabric to itself, be it a thread of this process.
  template <typename Part>
  void run_program(const char* name, Part& part,
                   const std::function<void(fabric::Host&, const Fabric&)>& program) {
    auto fabric = open_fabric(fabric_options());
    if (!fabric) return fail(part, fabric.error());
    auto host = (*fabric)->create_host(name);
    if (!host) return fail(part, host.error());
    (*host)->run_program([&] { program(**host, **fabric); });
  }

  template <typename Part>
  void fail(Part& part, const fabric::Error& error) {
    part.failure.set(error.detail);
    part.state = PartyState::failed;
  }

  FabricOptions fabric_options() const {
    constexpr std::uint64_t for_messages_bytes = std::uint64_t{1} << 30U;
    return {.directory = directory_.path(),
            .huge_pages = huge_pages_,
            .memory_limit_bytes = geometry_for(options_).chunk_bytes() + for_messages_bytes};
  }

  const BenchmarkOptions& options_;
  bool huge_pages_;
  std::function<void(const Progress&)> on_progress_;
  TemporaryDirectory directory_;
  std::unique_ptr<Board, UnmapBoard> board_ = make_shared_board();
};

}  // namespace

tl::expected<BenchmarkResult, std::string> run_over_shared_memory(
    const BenchmarkOptions& options, Parties parties, bool huge_pages,
    std::function<void(const Progress&)> on_progress) {
  return SharedMemoryBenchmark(options, huge_pages, std::move(on_progress)).run(parties);
}

}  // namespace falafel::bench
