#include "stores/exchange/server_ends.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "fabric/text.h"

namespace falafel::stores {
namespace {

// Identifiers of requests: the connection, and the number of the request within it. Receive
// requests come first, then replies, then the store's own requests.
std::uint64_t id_of(const ServerEnd& end, std::uint32_t number) {
  return std::uint64_t{end.number} << 32 | number;
}

}  // namespace

// Connecting

fabric::Result<std::unique_ptr<ServerEnd>> ServerEnds::make_end(const Newcomer& client) {
  const std::uint64_t container_bytes = options_.layout.container_bytes;
  const std::uint64_t block_bytes = options_.layout.block_bytes;
  auto block = host_.allocate_memory(block_bytes);
  if (!block) return tl::unexpected(block.error());
  auto buffers = domain_.register_memory(*block, container_bytes, block_bytes - container_bytes,
                                         {.local_write = true});
  if (!buffers) return tl::unexpected(buffers.error());
  auto end = std::make_unique<ServerEnd>();
  if (container_bytes > 0) {
    auto container = domain_.register_memory(*block, 0, container_bytes,
                                             {.local_write = true, .remote_write = true});
    if (!container) return tl::unexpected(container.error());
    end->container = std::move(*container);
  }
  end->number = next_number_++;
  end->client_id = client.client_id;
  end->client_container_key = client.container_key;
  end->block = std::move(*block);
  end->buffers = std::move(*buffers);
  return end;
}

void ServerEnds::reject(fabric::ConnectionRequest& request, std::string_view reason) {
  request.reject(fabric::copied_bytes_of(reason));
}

void ServerEnds::admit(fabric::ConnectionRequest& request, const Newcomer& client,
                       const std::function<fabric::PrivateData(const ServerEnd&)>& hello_of) {
  for (const auto& [number, end] : ends_) {
    if (end->client_id == client.client_id) take_down(*end);
  }
  if (ends_.size() >= options_.max_clients) {
    return reject(request, fmt::format("the server has its {} connections", options_.max_clients));
  }
  auto made = make_end(client);
  if (!made) return reject(request, "the server is out of memory");
  ServerEnd& end = **made;
  auto accepted = request.accept({.protection_domain = &domain_,
                                  .send_completions = &completions_,
                                  .receive_completions = &completions_,
                                  .max_send_requests = options_.exchanges + options_.own_requests,
                                  .max_receive_requests = options_.exchanges,
                                  .acknowledge_timeout_ns = options_.acknowledge_timeout_ns,
                                  .retry_count = options_.retry_count},
                                 hello_of(end));
  if (!accepted) return;
  end.queue_pair = std::move(*accepted);
  ends_[end.number] = std::move(*made);
  for (std::uint32_t exchange = 0; exchange < options_.exchanges; ++exchange) {
    post_receive(end, exchange);
  }
}

ServerEnd* ServerEnds::find(std::uint32_t number) {
  const auto found = ends_.find(number);
  return found == ends_.end() || found->second->is_down ? nullptr : found->second.get();
}

void ServerEnds::for_each(const std::function<void(ServerEnd&)>& use) {
  for (const auto& [number, end] : ends_) {
    if (!end->is_down) use(*end);
  }
}

std::uint64_t ServerEnds::connected() const {
  return static_cast<std::uint64_t>(
      std::ranges::count_if(ends_, [](const auto& numbered) { return !numbered.second->is_down; }));
}

// Messages

void ServerEnds::post_receive(ServerEnd& end, std::uint32_t exchange) {
  const fabric::ReceiveRequest request{
      .id = id_of(end, exchange),
      .local = {.key = end.buffers->local_key(), .offset = request_offset(exchange)},
      .length_bytes = options_.message_bytes};
  const auto posted = end.queue_pair->post_receive({&request, 1});
  FALAFEL_ASSERT(posted.has_value(), "{}", posted.error().detail);
  ++end.posted;
}

void ServerEnds::post(ServerEnd& end, std::span<const fabric::WorkRequest> chain) {
  const auto posted = end.queue_pair->post_send(chain);
  FALAFEL_ASSERT(posted.has_value(), "{}", posted.error().detail);
  end.posted += static_cast<std::uint32_t>(chain.size());
  end.own_posted += static_cast<std::uint32_t>(
      std::ranges::count_if(chain, [&](const fabric::WorkRequest& request) {
        return static_cast<std::uint32_t>(request.id) >= 2 * options_.exchanges;
      }));
}

fabric::WorkRequest ServerEnds::send_request(ServerEnd& end, std::uint32_t number,
                                             std::uint64_t offset,
                                             std::span<const std::byte> header,
                                             std::span<const std::byte> value) const {
  const std::span<std::byte> buffer = end.block->bytes().subspan(offset);
  std::ranges::copy(header, buffer.begin());
  std::ranges::copy(value, buffer.subspan(header.size()).begin());
  fabric::WorkRequest request;
  request.id = id_of(end, number);
  request.opcode = fabric::Opcode::send;
  request.length_bytes = static_cast<std::uint32_t>(header.size() + value.size());
  request.local = {.key = end.buffers->local_key(), .offset = offset};
  return request;
}

fabric::WorkRequest ServerEnds::reply_request(ServerEnd& end, std::uint32_t exchange,
                                              std::span<const std::byte> header,
                                              std::span<const std::byte> value) const {
  return send_request(end, options_.exchanges + exchange,
                      options_.layout.reply_offset + exchange * options_.layout.stride_bytes,
                      header, value);
}

void ServerEnds::reply(const RequestOrigin& origin, std::span<const std::byte> header,
                       std::span<const std::byte> value) {
  ServerEnd* const end = find(origin.connection);
  if (end == nullptr) return;
  const std::array chain{reply_request(*end, origin.exchange, header, value)};
  post(*end, chain);
}

fabric::WorkRequest ServerEnds::own_request(ServerEnd& end, std::uint32_t own,
                                            std::span<const std::byte> bytes) const {
  return send_request(end, 2 * options_.exchanges + own,
                      options_.layout.own_offset + own * options_.layout.stride_bytes, bytes, {});
}

bool ServerEnds::poll(std::optional<Arrival>& arrival) {
  std::array<fabric::WorkCompletion, 1> completion{};
  if (completions_.poll(completion) == 0) return false;
  arrival = handle(completion[0]);
  forget_drained();
  return true;
}

std::optional<ServerEnds::Arrival> ServerEnds::handle(const fabric::WorkCompletion& completion) {
  const auto found = ends_.find(static_cast<std::uint32_t>(completion.id >> 32));
  FALAFEL_ASSERT(found != ends_.end(), "a completion of the unknown connection {}",
                 completion.id >> 32);
  ServerEnd& end = *found->second;
  const auto number = static_cast<std::uint32_t>(completion.id);
  --end.posted;
  const bool is_own = number >= 2 * options_.exchanges;
  if (is_own) --end.own_posted;
  if (completion.status != fabric::CompletionStatus::success) take_down(end);
  if (end.is_down || is_own) return std::nullopt;
  if (number >= options_.exchanges) {
    post_receive(end, number - options_.exchanges);
    return std::nullopt;
  }
  return Arrival{
      .end = &end,
      .exchange = number,
      .message = end.block->bytes().subspan(request_offset(number), completion.length_bytes)};
}

void ServerEnds::refuse(const Arrival& arrival) {
  ++malformed_requests_;
  take_down(*arrival.end);
  forget_drained();
}

// Taking connections down

void ServerEnds::take_down(ServerEnd& end) {
  if (std::exchange(end.is_down, true)) return;
  end.queue_pair->move_to_error();
}

// A client's WRITEs may still be landing in its container, which is closed with the queue pair. All
// receive requests were flushed by then, so nothing is landing any more.
void ServerEnds::forget_drained() {
  std::erase_if(ends_, [](const auto& numbered) {
    return numbered.second->is_down && numbered.second->posted == 0;
  });
}

template <typename Condition>
void ServerEnds::wait_until(const Condition& condition, std::uint64_t deadline_ns) {
  while (!condition()) {
    std::optional<Arrival> dropped;
    if (!poll(dropped) && !completions_.wait(deadline_ns)) return;
  }
}

void ServerEnds::wait_for_own_requests(std::uint64_t deadline_ns) {
  const auto have_been_sent = [&] {
    return std::ranges::none_of(ends_, [&](const auto& numbered) {
      return !numbered.second->is_down && numbered.second->own_posted > 0;
    });
  };
  wait_until(have_been_sent, deadline_ns);
}

void ServerEnds::take_all_down(std::uint64_t deadline_ns) {
  for (const auto& [number, end] : ends_) take_down(*end);
  forget_drained();
  wait_until([&] { return ends_.empty(); }, deadline_ns);
}

}  // namespace falafel::stores
