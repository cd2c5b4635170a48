#include "engine/server/server.h"

#include <algorithm>
#include <array>
#include <string>

#include "engine/layout/access_report.h"
#include "engine/option_range.h"
#include "engine/server/server_state.h"
#include "engine/server/write_quota.h"

namespace falafel::engine {
namespace {

std::optional<std::string> find_invalid_option(const ServerOptions& options,
                                               const fabric::DeviceAttributes& device) {
  constexpr std::uint64_t longest_ns = longest_duration_ns;
  if (options.evicts && !options.geometry.values_expire) {
    return "evicts is true, but geometry.values_expire is not; only a cache evicts values";
  }
  if (auto problem = find_invalid_geometry(options.geometry)) return problem;
  if (options.memory_grows && !options.geometry.has_blocks()) {
    return fmt::format(
        "memory_grows is true, but mature_space_count is {}; only blocks grow, at "
        "least {}",
        options.geometry.mature_space_count, fewest_blocks);
  }
  if (options.geometry.values_expire && options.geometry.slot_count() > most_cache_entries) {
    return fmt::format("the tables have {} entries but must have at most {} in a cache",
                       options.geometry.slot_count(), most_cache_entries);
  }
  if (options.geometry.can_grow() && !options.safeguards.bounded_walks) {
    return "most_tables above 1 requires the safeguard bounded-walks";
  }
  if (options.kept_memory && !options.safeguards.bounded_walks) {
    return "kept_memory requires the safeguard bounded-walks: no server can repair what a cleanup "
           "by rehash leaves";
  }
  if (const std::uint64_t least = WriteQuota::least_bytes_per_second(options.geometry.region_bytes);
      options.client_bytes_per_second > 0 && options.client_bytes_per_second < least) {
    return fmt::format(
        "client_bytes_per_second is {} but must be 0 or at least {} with regions of {} bytes, so "
        "that a client waits 5 s for one at most",
        options.client_bytes_per_second, least, options.geometry.region_bytes);
  }
  const std::array problems{
      find_out_of_range(
          "max_clients", options.max_clients, 1,
          std::min(65'535U, device.max_completions / Membership::completions_per_client())),
      find_out_of_range("heartbeat_timeout_ns", options.heartbeat_timeout_ns,
                        shortest_heartbeat_timeout_ns, longest_ns),
      find_out_of_range("flush_timeout_ns", options.flush_timeout_ns, 1, longest_ns),
      find_out_of_range("cleanup_percent", options.cleanup_percent, 0, 100),
      find_out_of_range("cleanup_interval_ns", options.cleanup_interval_ns, 1, longest_ns),
      find_out_of_range("acknowledge_timeout_ns", options.acknowledge_timeout_ns, 1, longest_ns),
      find_out_of_range("retry_count", options.retry_count, 0, 7),
      find_out_of_range("pipelined_updates", options.pipelined_updates, 1,
                        std::min({64U, device.max_queue_requests, device.max_completions - 1})),
      find_out_of_range("measurement_interval_ns", options.measurement_interval_ns, 0, longest_ns),
      find_out_of_range("evicted_percent", options.evicted_percent, 1, 100)};
  for (const auto& problem : problems) {
    if (problem) return problem;
  }
  return std::nullopt;
}

// Returns a message about an attribute of the device that is too small for a server.
std::optional<std::string> find_unmet_requirement(const fabric::DeviceAttributes& device) {
  if (device.atomic_capability == fabric::AtomicCapability::none) {
    return "the device does not support the atomics that the server needs to change entries";
  }
  if (device.max_message_bytes < ServerState::longest_request_bytes) {
    return fmt::format(
        "max_message_bytes of the device is {}, and a server needs {}; use another device",
        device.max_message_bytes, ServerState::longest_request_bytes);
  }
  return Membership::find_unmet_requirement(device);
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
  const fabric::DeviceAttributes& device = host.device(0).attributes();
  if (auto problem = find_unmet_requirement(device)) {
    return fabric::make_error(fabric::ErrorCode::unsupported, std::move(*problem));
  }
  if (auto problem = find_invalid_option(options, device)) {
    return fabric::make_error(fabric::ErrorCode::invalid_argument, std::move(*problem));
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

std::uint64_t Server::denials() const { return state_->denials(); }

bool Server::holds(std::uint64_t offset, std::uint64_t length_bytes) const {
  return state_->holds(offset, length_bytes);
}

fabric::MemoryBlock& Server::memory() { return *state_->chunk().block; }

}  // namespace falafel::engine
