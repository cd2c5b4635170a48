#include "engine/server/server.h"

#include <array>
#include <string>

#include "engine/option_range.h"
#include "engine/server/server_state.h"

namespace falafel::engine {
namespace {

std::optional<std::string> find_invalid_option(const ServerOptions& options) {
  constexpr std::uint64_t longest_ns = std::uint64_t{1} << 62;
  const std::array problems{
      find_invalid_geometry(options.geometry),
      find_out_of_range("max_clients", options.max_clients, 1, 65'535),
      find_out_of_range("heartbeat_timeout_ns", options.heartbeat_timeout_ns, 1'000, longest_ns),
      find_out_of_range("flush_timeout_ns", options.flush_timeout_ns, 1, longest_ns),
      find_out_of_range("cleanup_percent", options.cleanup_percent, 0, 100),
      find_out_of_range("cleanup_interval_ns", options.cleanup_interval_ns, 1, longest_ns),
      find_out_of_range("acknowledge_timeout_ns", options.acknowledge_timeout_ns, 1, longest_ns),
      find_out_of_range("retry_count", options.retry_count, 0, 7),
      find_out_of_range("pipelined_updates", options.pipelined_updates, 1, 64),
      find_out_of_range("measurement_interval_ns", options.measurement_interval_ns, 0, longest_ns)};
  for (const auto& problem : problems) {
    if (problem) return problem;
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(Collection collection) {
  return collection == Collection::scan_memory ? "scan_memory" : "walk_table";
}

std::string_view to_string(Breach breach) {
  switch (breach) {
    case Breach::malformed_message: return "malformed message";
    case Breach::too_many_messages: return "too many messages";
  }
  return "?";
}

fabric::Result<std::unique_ptr<Server>> Server::start(fabric::Host& host,
                                                      const ServerOptions& options) {
  if (auto problem = find_invalid_option(options)) {
    return fabric::make_error(fabric::ErrorCode::invalid_argument, std::move(*problem));
  }
  if (host.device(0).attributes().atomic_capability == fabric::AtomicCapability::none) {
    return fabric::make_error(
        fabric::ErrorCode::unsupported,
        "the device does not support the atomics that the server needs to change entries");
  }
  auto state = std::make_shared<ServerState>(host, options);
  if (const auto started = state->start(); !started) {
    state->stop_and_wait();  // the service is taken as long as one of its fibers is there
    return tl::unexpected(started.error());
  }
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

Server::Server(std::shared_ptr<ServerState> state) : state_(std::move(state)) {}

Server::~Server() { state_->stop(); }

void Server::clean_up() { state_->clean_up(); }

const Geometry& Server::geometry() const { return state_->chunk().geometry; }

const HashKey& Server::hash_key() const { return state_->chunk().hash_key; }

ServerInspection Server::inspect() const { return state_->inspect(); }

ServerBooks Server::books() const { return state_->books(); }

fabric::MemoryBlock& Server::memory() { return *state_->chunk().block; }

}  // namespace falafel::engine
