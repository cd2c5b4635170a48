#include "engine/client/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <string>

#include "engine/client/batch.h"
#include "engine/client/damaged_container.h"
#include "engine/client/key_scan.h"
#include "engine/client/operation_context.h"
#include "engine/client/pending_operation.h"
#include "engine/client/session.h"
#include "engine/layout/container.h"
#include "engine/layout/entry.h"
#include "engine/option_range.h"

namespace falafel::engine {
namespace {

std::optional<std::string> find_invalid_option(const ClientOptions& options,
                                               const fabric::DeviceAttributes& device) {
  const auto longest_buffer_bytes =
      std::min<std::uint64_t>(std::uint64_t{1} << 30, device.max_message_bytes);
  const ReadaheadOptions& readahead = options.readahead;
  const std::array problems{
      find_out_of_range("readahead.chunk_entries", readahead.chunk_entries, 1,
                        std::min<std::uint64_t>(65'536, longest_buffer_bytes / entry_bytes)),
      find_out_of_range("readahead.container_bytes", readahead.container_bytes,
                        container_header_bytes, longest_buffer_bytes),
      // One chain of requests reads them together with the entries.
      find_out_of_range("readahead.containers", readahead.containers, 1,
                        std::min(max_containers_ahead, Session::requests_at_a_time(device) - 1)),
      find_out_of_range("location_cache.entries", options.location_cache.entries, 0,
                        std::uint32_t{1} << 28),
      find_out_of_range("location_cache.trust_ns", options.location_cache.trust_ns, 1,
                        longest_duration_ns),
      find_out_of_range("max_operations_in_flight", options.max_operations_in_flight, 1, 4'096),
      find_out_of_range("renewal_percent", options.renewal_percent, 1, 100),
      find_out_of_range("connect_timeout_ns", options.connect_timeout_ns, 1, longest_duration_ns),
      find_out_of_range("server_timeout_ns", options.server_timeout_ns, 1, longest_duration_ns),
      find_out_of_range("acknowledge_timeout_ns", options.acknowledge_timeout_ns, 1,
                        longest_duration_ns),
      find_out_of_range("retry_count", options.retry_count, 0, 7)};
  for (const auto& problem : problems) {
    if (problem) return problem;
  }
  return std::nullopt;
}

}  // namespace

fabric::Result<std::unique_ptr<Client>> Client::connect(fabric::Host& host,
                                                        const fabric::Address& server,
                                                        const ClientOptions& options) {
  if (auto problem =
          find_out_of_range("device_index", options.device_index, 0, host.device_count() - 1)) {
    return fabric::make_error(fabric::ErrorCode::invalid_argument, std::move(*problem));
  }
  const fabric::DeviceAttributes& device = host.device(options.device_index).attributes();
  if (auto problem = Session::find_unmet_requirement(device)) {
    return fabric::make_error(fabric::ErrorCode::unsupported, std::move(*problem));
  }
  if (auto problem = find_invalid_option(options, device)) {
    return fabric::make_error(fabric::ErrorCode::invalid_argument, std::move(*problem));
  }
  std::shared_ptr<Session> session;
  try {
    session = std::make_shared<Session>(host, options);
  } catch (const std::bad_alloc&) {
    return fabric::make_error(
        fabric::ErrorCode::out_of_memory,
        fmt::format("this host has no memory for location_cache.entries = {}; use fewer",
                    options.location_cache.entries));
  }
  fabric::Result<void> opened;
  try {
    opened = session->open(server);
  } catch (const std::bad_alloc&) {
    session->close();
    throw;
  }
  if (!opened) {
    session->close();
    return tl::unexpected(opened.error());
  }
  return std::unique_ptr<Client>(new Client(std::move(session)));
}

Client::Client(std::shared_ptr<Session> session)
    : context_(std::make_unique<OperationContext>(OperationContext{std::move(session)})) {}

Client::~Client() { context_->session->close(); }

GetResult Client::get(std::span<const std::byte> key) { return Batch(*context_).get(key); }

GetResult Client::get(std::span<const std::byte> key,
                      const std::function<void(std::span<const std::byte>)>& use) {
  return Batch(*context_).get(key, use);
}

GetResult Client::get(std::span<const std::byte> key, const ValueBuffer& buffer) {
  return Batch(*context_).get(key, buffer);
}

fabric::Result<ValueBuffer> Client::allocate_buffer(std::uint64_t size_bytes) {
  return ValueBuffer::allocate(context_->session, size_bytes);
}

SetResult Client::set(std::span<const std::byte> key, std::span<const std::byte> value,
                      std::uint64_t time_to_live_ns) {
  return Batch(*context_).set(key, value, time_to_live_ns);
}

SetResult Client::compare_and_set(std::span<const std::byte> key, const Condition& condition,
                                  std::span<const std::byte> value,
                                  const std::optional<std::uint64_t>& time_to_live_ns) {
  return Batch(*context_).compare_and_set(key, condition, value, time_to_live_ns);
}

DeleteResult Client::remove(std::span<const std::byte> key) { return Batch(*context_).remove(key); }

tl::expected<void, Answer> Client::for_each_key(const VisitPair& visit,
                                                const VisitDamaged& visit_damaged) {
  return engine::for_each_key(*context_, visit, visit_damaged);
}

DeleteResult Client::drop_damaged(const DamagedContainer& damaged) {
  return engine::drop_damaged(*context_, damaged);
}

tl::expected<void, Answer> Client::wait_for_end_of_operations(std::uint64_t timeout_ns) {
  const auto failed = context_->session->ends().wait(timeout_ns);
  if (failed) return tl::unexpected(*failed);
  return {};
}

void Client::disconnect() {
  context_->session->say_goodbye();
  context_->session->close();
}

bool Client::is_connected() const { return !context_->session->is_broken(); }

const Geometry& Client::geometry() const { return context_->session->server().geometry; }

std::uint64_t Client::server_incarnation() const { return context_->session->server().incarnation; }

const OperationStatistics& Client::statistics() const { return context_->session->statistics(); }

}  // namespace falafel::engine
