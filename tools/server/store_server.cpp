#include "tools/server/store_server.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <csignal>
#include <thread>

#include "engine/server/server.h"
#include "fabric/realtime/available_memory.h"
#include "falafel/connecting.h"
#include "falafel/fabric_choice.h"
#include "tools/server/fill_warnings.h"
#include "tools/server/metrics_endpoint.h"
#include "tools/server/report_mailbox.h"
#include "tools/server/status_socket.h"

namespace falafel::server_program {
namespace {

namespace asio = boost::asio;

ServeFailure failure_of(const fabric::Error& error) {
  if (is_about_permission(error)) return {no_permission, error.detail};
  switch (error.code) {
    case fabric::ErrorCode::address_in_use: return {name_taken, error.detail};
    case fabric::ErrorCode::out_of_memory: return {no_memory, error.detail};
    default: return {wrong_usage, error.detail};
  }
}

// The system would overcommit, and would kill the server when it uses the memory.
std::optional<ServeFailure> find_lack_of_memory(const ServeOptions& options,
                                                std::uint64_t chunk_bytes) {
  const auto available_bytes = fabric::available_memory_bytes();
  if (options.fabric.huge_pages || !available_bytes || chunk_bytes <= *available_bytes) {
    return std::nullopt;
  }
  return ServeFailure{
      no_memory, fmt::format("--memory requests {} bytes, but the system has only {} available to "
                             "this process; request less, free memory, or raise the memory limit "
                             "of its control group",
                             chunk_bytes, *available_bytes)};
}

// The parts of the store, and how its memory grows.
struct StoreSizes {
  engine::Geometry geometry;
  bool memory_grows = false;
  std::uint64_t least_held_bytes = 0;
};

MachineMemory memory_of_machine(const ServeOptions& options) {
  MachineMemory machine{.grows_unasked = options.fabric.fabric == "shm",
                        .available_bytes = fabric::available_memory_bytes()};
  if (machine.grows_unasked || options.memory.max_memory_bytes) {
    machine.obstacle = obstacle_to_growth(options.fabric, options.name);
  }
  if (const auto free_bytes = free_bytes_beside(options.memory_file)) {
    machine.available_bytes = std::min(machine.available_bytes.value_or(*free_bytes), *free_bytes);
  }
  return machine;
}

class StoreServer {
 public:
  StoreServer(const ServeOptions& options, const StoreSizes& sizes, bool is_recovered)
      : options_(options),
        geometry_(sizes.geometry),
        memory_grows_(sizes.memory_grows),
        least_held_bytes_(sizes.least_held_bytes),
        is_recovered_(is_recovered),
        signals_(context_, SIGTERM, SIGINT) {}

  std::optional<ServeFailure> run(const std::function<void(const Serving&)>& on_ready) {
    auto fabric = open_fabric(fabric_options());
    if (!fabric) return failure_of(fabric.error());
    auto host = (*fabric)->create_host(options_.name);
    if (!host) return failure_of(host.error());
    place_ = (*fabric)->place();
    signals_.async_wait([this](const auto& error, int) {
      if (!error) stopping_ = true;
    });
    const std::jthread services([this] { context_.run(); });
    (*host)->run_program([&] { serve(**host, on_ready); });
    context_.stop();
    return failure_;
  }

 private:
  void serve(fabric::RealTimeHost& host, const std::function<void(const Serving&)>& on_ready) {
    auto server = engine::Server::start(host, server_options());
    if (!server) {
      failure_ = failure_of(server.error());
      return;
    }
    started_ns_ = host.now_ns();
    failure_ = start_services();
    if (failure_) return;
    on_ready(
        {.place = place_,
         .geometry = geometry_,
         .held_bytes =
             memory_grows_ ? std::optional((*server)->inspect().held_bytes) : std::nullopt,
         .metrics = metrics_ != nullptr ? metrics_->address() : std::string(),
         .recovered_keys = is_recovered_ ? std::optional(count_keys(**server)) : std::nullopt});
    constexpr std::uint64_t interval_ns = 10'000'000;
    while (!stopping_) {
      mailbox_.answer([&] { return report(host, **server); });
      warn_of_fill(host, **server);
      host.sleep_until(host.now_ns() + interval_ns);
    }
  }

  void warn_of_fill(fabric::RealTimeHost& host, engine::Server& server) {
    constexpr std::uint64_t interval_ns = 1'000'000'000;
    if (host.now_ns() < next_look_at_fill_ns_) return;
    next_look_at_fill_ns_ = host.now_ns() + interval_ns;
    const auto warn = [&](const std::optional<std::string>& warning) {
      if (warning && options_.warn) options_.warn(*warning);
    };
    warn(fill_warnings_.examine(geometry_, fill_of(server)));
    const engine::ServerInspection inspection = server.inspect();
    warn(refusal_warnings_.examine({.held_bytes = inspection.held_bytes,
                                    .limit_bytes = geometry_.chunk_bytes(),
                                    .refusals = inspection.statistics.commits_refused},
                                   host.now_ns()));
  }

  // Includes room for the chunk and for the messages of clients.
  FabricOptions fabric_options() const {
    constexpr std::uint64_t for_messages_bytes = std::uint64_t{1} << 30U;
    FabricOptions fabric = options_.fabric;
    fabric.memory_limit_bytes =
        std::max(fabric.memory_limit_bytes, geometry_.chunk_bytes() + for_messages_bytes);
    return fabric;
  }

  engine::ServerOptions server_options() const {
    return {
        .geometry = geometry_,
        .max_clients = options_.sizing.clients,
        .heartbeat_timeout_ns = static_cast<std::uint64_t>(options_.client_timeout_seconds * 1e9),
        .client_bytes_per_second = options_.client_bytes_per_second,
        .evicts = options_.is_cache,
        .memory_grows = memory_grows_,
        .least_held_bytes = least_held_bytes_,
        .kept_memory =
            options_.memory_file.empty() ? std::nullopt : std::optional(options_.memory_file)};
  }

  // Runs after the server owns its name, so that a second server does not replace the first one's
  // socket.
  std::optional<ServeFailure> start_services() {
    const auto source = [this] { return mailbox_.ask(std::chrono::milliseconds(500)); };
    const std::filesystem::path& asked_for = options_.fabric.directory;
    const std::filesystem::path path =
        status_socket_path(asked_for.empty() ? default_directory() : asked_for, options_.name);
    auto status = StatusSocket::listen(context_, path, source);
    if (!status) return failure_of(status.error());
    status_ = std::move(*status);
    if (options_.metrics.empty()) return std::nullopt;
    auto metrics = MetricsEndpoint::listen(context_, options_.metrics,
                                           [source]() -> std::optional<std::string> {
                                             const auto report = source();
                                             if (!report) return std::nullopt;
                                             return to_prometheus(*report);
                                           });
    if (!metrics) return failure_of(metrics.error());
    metrics_ = std::move(*metrics);
    return std::nullopt;
  }

  ServerReport report(fabric::RealTimeHost& host, const engine::Server& server) const {
    return {.name = options_.name,
            .process_id = getpid(),
            .uptime_ns = host.now_ns() - started_ns_,
            .max_clients = options_.sizing.clients,
            .memory_file = options_.memory_file,
            .geometry = geometry_,
            .memory_grows = memory_grows_,
            .inspection = server.inspect(),
            .descriptor_shortages = host.descriptor_shortage()->count()};
  }

  const ServeOptions& options_;
  engine::Geometry geometry_;
  bool memory_grows_;
  std::uint64_t least_held_bytes_;
  bool is_recovered_;
  std::string place_;
  asio::io_context context_;
  asio::signal_set signals_;
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
  ReportMailbox mailbox_;
  std::unique_ptr<StatusSocket> status_;
  std::unique_ptr<MetricsEndpoint> metrics_;
  std::atomic<bool> stopping_ = false;
  std::uint64_t started_ns_ = 0;
  std::uint64_t next_look_at_fill_ns_ = 0;
  FillWarnings fill_warnings_;
  RefusalWarnings refusal_warnings_;
  std::optional<ServeFailure> failure_;
};

// Serves the store that is in the file. If the file has holes, its memory grows.
std::optional<ServeFailure> serve_again(const ServeOptions& options, const SizingOptions& sizing,
                                        const StoreInFile& stored,
                                        const std::function<void(const Serving&)>& on_ready) {
  if (const auto other =
          find_other_size(stored.geometry, sizing, options.given, options.is_cache)) {
    return ServeFailure{wrong_usage,
                        fmt::format("'{}': {}; leave the option out, or choose another file",
                                    options.memory_file, *other)};
  }
  const bool grows = stored.has_holes && obstacle_to_growth(options.fabric, options.name).empty();
  const StoreSizes sizes{.geometry = stored.geometry, .memory_grows = grows};
  return StoreServer(options, sizes, true).run(on_ready);
}

}  // namespace

std::optional<ServeFailure> serve(const ServeOptions& options,
                                  const std::function<void(const Serving&)>& on_ready) {
  if (!options.memory_file.empty()) {
    const auto stored = find_store_in(options.memory_file);
    if (!stored) return failure_of(stored.error());
    SizingOptions sizing = options.sizing;
    sizing.memory_bytes = options.memory.max_memory_bytes.value_or(
        options.memory.memory_bytes.value_or(fixed_memory_bytes));
    if (*stored) return serve_again(options, sizing, **stored, on_ready);
  }
  MemorySizes memory = options.memory;
  memory.fills_up = options.is_cache;
  const auto plan = plan_memory(options.sizing, memory, memory_of_machine(options));
  if (!plan) return ServeFailure{wrong_usage, plan.error()};
  auto geometry = divide_memory(plan->sizing);
  if (!geometry) return ServeFailure{wrong_usage, geometry.error()};
  if (plan->grows && !geometry->has_blocks()) {
    return ServeFailure{
        wrong_usage,
        fmt::format("a memory of at most {} bytes has no room for eight blocks of the length of a "
                    "region, so it does not grow; make --region-size smaller, increase "
                    "--max-memory, or use --memory",
                    plan->sizing.memory_bytes)};
  }
  geometry->values_expire = options.is_cache;
  const StoreSizes sizes{.geometry = *geometry,
                         .memory_grows = plan->grows,
                         .least_held_bytes = plan->least_held_bytes};
  const std::uint64_t first_bytes =
      sizes.memory_grows ? sizes.least_held_bytes : geometry->chunk_bytes();
  if (auto failure = find_lack_of_memory(options, first_bytes)) return failure;
  return StoreServer(options, sizes, false).run(on_ready);
}

}  // namespace falafel::server_program
