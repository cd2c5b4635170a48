#include "tools/benchmarks/store/real_time_benchmark.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "falafel/connecting.h"
#include "falafel/fabric_choice.h"
#include "tools/benchmarks/store/client_run.h"
#include "tools/benchmarks/store/parties.h"
#include "tools/benchmarks/store/system_time.h"

namespace falafel::store_benchmark {
namespace {

class RealTimeBenchmark {
 public:
  RealTimeBenchmark(const BenchmarkOptions& options, const RealTimeOptions& real_time,
                    std::function<void(const Progress&)> on_progress)
      : options_(options),
        real_time_(real_time),
        on_progress_(std::move(on_progress)),
        server_name_(has_own_server() ? own_server_name(real_time.fabric) : real_time.server) {}

  tl::expected<KilledClient, std::string> run_and_kill() {
    if (!has_own_server()) board_->server.state = PartyState::done;
    ChildProcesses children;
    start(children);
    return kill_first_client(options_, *board_, children);
  }

  tl::expected<BenchmarkResult, std::string> run() {
    if (!has_own_server()) board_->server.state = PartyState::done;
    const bool processes = real_time_.parties == Parties::processes;
    const ConductedRun run = processes ? run_processes() : run_threads();
    if (run.failure) return tl::unexpected(*run.failure);
    BenchmarkResult result = sum_up(options_, *board_, run);
    result.fabric =
        fmt::format("{} ({})", real_time_.fabric.fabric, processes ? "processes" : "threads");
    result.clock = "the processor's time stamp counter, around every operation";
    if (!has_own_server()) {
      result.server.reset();
      result.memory.reset();
    }
    return result;
  }

 private:
  bool has_own_server() const { return real_time_.server.empty(); }

  void start(ChildProcesses& children) {
    if (has_own_server()) children.start("the server", [this] { serve(); });
    for (std::uint32_t client = 0; client < options_.clients; ++client) {
      children.start(client_name(client), [this, client] { be_client(client); });
    }
  }

  ConductedRun run_processes() {
    ChildProcesses children;
    start(children);
    ConductedRun run = conduct([&] { return children.find_dead(); });
    if (!run.failure) children.wait_for_all();
    return run;
  }

  ConductedRun run_threads() {
    std::vector<std::jthread> threads;
    if (has_own_server()) threads.emplace_back([this] { serve(); });
    for (std::uint32_t client = 0; client < options_.clients; ++client) {
      threads.emplace_back([this, client] { be_client(client); });
    }
    return conduct({});
  }

  ConductedRun conduct(std::function<std::optional<std::string>()> find_dead) {
    return Conductor(options_, *board_, system_time(), on_progress_, std::move(find_dead)).run();
  }

  void serve() {
    const auto create_host = [&](Fabric& fabric) { return fabric.create_host(server_name_); };
    run_program(create_host, board_->server,
                [this](fabric::Host& host, const Fabric&) { run_server(host, options_, *board_); });
  }

  void be_client(std::uint32_t client) {
    while (board_->server.state == PartyState::starting && board_->phase != Phase::over) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const auto create_host = [](Fabric& fabric) { return fabric.create_client_host(); };
    run_program(create_host, board_->clients[client],
                [this, client](fabric::Host& host, const Fabric& fabric) {
                  const ClientPlace place{.server = address_of(server_name_),
                                          .readahead = fabric.readahead(),
                                          .location_cache = fabric.location_cache(),
                                          .clock = OperationClock::of_processor(),
                                          .number = client};
                  run_client(host, place, options_, *board_);
                });
  }

  // Each party uses its own fabric, whether it is a process or a thread of this one.
  template <typename CreateHost, typename Part>
  void run_program(const CreateHost& create_host, Part& part,
                   const std::function<void(fabric::Host&, const Fabric&)>& program) {
    auto fabric = open_fabric(fabric_options());
    if (!fabric) return fail(part, fabric.error());
    auto host = create_host(**fabric);
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
    FabricOptions fabric = real_time_.fabric;
    fabric.memory_limit_bytes = std::max(fabric.memory_limit_bytes,
                                         geometry_for(options_).chunk_bytes() + for_messages_bytes);
    if (has_own_server() && fabric.directory.empty()) fabric.directory = directory_.path();
    return fabric;
  }

  const BenchmarkOptions& options_;
  const RealTimeOptions& real_time_;
  std::function<void(const Progress&)> on_progress_;
  std::string server_name_;
  TemporaryDirectory directory_;
  SharedBoard board_ = make_shared_board(options_.clients);
};

}  // namespace

tl::expected<BenchmarkResult, std::string> run_in_real_time(
    const BenchmarkOptions& options, const RealTimeOptions& real_time,
    std::function<void(const Progress&)> on_progress) {
  return RealTimeBenchmark(options, real_time, std::move(on_progress)).run();
}

tl::expected<KilledClient, std::string> kill_client_in_real_time(const BenchmarkOptions& options,
                                                                 const RealTimeOptions& real_time) {
  return RealTimeBenchmark(options, real_time, {}).run_and_kill();
}

}  // namespace falafel::store_benchmark
