#include "explorer/check/endpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "explorer/check/connecting.h"
#include "explorer/check/world.h"

namespace falafel::check {
namespace {

// The regions of a host travel with a connection, each as its key, the length of its name, and the
// name.
constexpr std::size_t longest_name = 255;

void append_region(fabric::PrivateData& data, std::uint32_t key, const std::string& name) {
  const auto key_bytes = std::as_bytes(std::span(&key, 1));
  data.insert(data.end(), key_bytes.begin(), key_bytes.end());
  data.push_back(static_cast<std::byte>(name.size()));
  const auto name_bytes = std::as_bytes(std::span(name));
  data.insert(data.end(), name_bytes.begin(), name_bytes.end());
}

std::vector<RemoteRegion> regions_in(std::span<const std::byte> data, const std::string& peer) {
  constexpr std::size_t fixed_bytes = sizeof(std::uint32_t) + 1;
  std::vector<RemoteRegion> regions;
  while (!data.empty()) {
    const std::size_t length =
        data.size() < fixed_bytes ? data.size() : std::to_integer<std::size_t>(data[4]);
    if (data.size() < fixed_bytes + length) {
      throw std::runtime_error(
          fmt::format("{} is connected by something else than an Endpoint", peer));
    }
    RemoteRegion region;
    std::memcpy(&region.key, data.data(), sizeof region.key);
    region.name.resize(length);
    std::memcpy(region.name.data(), data.data() + fixed_bytes, length);
    regions.push_back(std::move(region));
    data = data.subspan(fixed_bytes + length);
  }
  return regions;
}

}  // namespace

// -------------------------------------------------------------------------------------------------
// Connection

Connection::Connection(fabric::Host& host, fabric::ProtectionDomain& domain,
                       const ConnectionOptions& options, std::string peer)
    : options_(options),
      peer_(std::move(peer)),
      buffers_(value_of(host.allocate_memory(std::uint64_t{options.buffer_bytes} *
                                             (options.send_buffers + options.receive_buffers)),
                        "allocate_memory")),
      buffers_region_(
          value_of(domain.register_memory(buffers_, 0,
                                          std::uint64_t{options.buffer_bytes} *
                                              (options.send_buffers + options.receive_buffers),
                                          {.local_write = true}),
                   "register_memory")),
      send_completions_(value_of(host.device(0).create_completion_queue(options.send_buffers),
                                 "create_completion_queue")),
      receive_completions_(
          value_of(host.device(0).create_completion_queue(std::max(options.receive_buffers, 1U)),
                   "create_completion_queue")) {}

fabric::QueuePairOptions Connection::queue_pair_options(fabric::ProtectionDomain& domain) const {
  return {.transport = options_.transport,
          .protection_domain = &domain,
          .send_completions = send_completions_.get(),
          .receive_completions = receive_completions_.get(),
          .max_send_requests = options_.send_buffers,
          .max_receive_requests = std::max(options_.receive_buffers, 1U)};
}

void Connection::begin(std::unique_ptr<fabric::QueuePair> queue_pair,
                       const fabric::PrivateData& regions_of_peer) {
  queue_pair_ = std::move(queue_pair);
  regions_ = regions_in(regions_of_peer, peer_);
  post_receives(0, options_.receive_buffers);
}

void Connection::post_receives(std::uint32_t first, std::uint32_t count) {
  for (std::uint32_t buffer = first; buffer < first + count; ++buffer) {
    const fabric::ReceiveRequest request{
        .id = buffer,
        .local = {.key = buffers_region_->local_key(),
                  .offset = buffer_of(options_.send_buffers + std::uint64_t{buffer})},
        .length_bytes = options_.buffer_bytes};
    // A connection that has broken takes no more; receive() will tell.
    if (!queue_pair_->post_receive(std::span(&request, 1))) return;
  }
}

std::uint64_t Connection::buffer_of(std::uint64_t number) const {
  return number * options_.buffer_bytes;
}

const RemoteRegion& Connection::region(const std::string& name) const {
  const auto found = std::ranges::find(regions_, name, &RemoteRegion::name);
  if (found != regions_.end()) return *found;
  std::vector<std::string> names;
  names.reserve(regions_.size());
  for (const RemoteRegion& region : regions_) names.push_back(region.name);
  throw std::invalid_argument(
      fmt::format("{} shares no memory '{}'; it shares: {}", peer_, name,
                  names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
}

std::uint64_t Connection::read(const RemoteRegion& region, std::uint64_t offset) {
  return execute(Chain().read(region, offset)).word(0);
}

void Connection::write(const RemoteRegion& region, std::uint64_t offset, std::uint64_t word) {
  execute(Chain().write(region, offset, word));
}

std::uint64_t Connection::compare_and_swap(const RemoteRegion& region, std::uint64_t offset,
                                           std::uint64_t expected, std::uint64_t desired) {
  return execute(Chain().compare_and_swap(region, offset, expected, desired)).word(0);
}

std::uint64_t Connection::fetch_and_add(const RemoteRegion& region, std::uint64_t offset,
                                        std::uint64_t addend) {
  return execute(Chain().fetch_and_add(region, offset, addend)).word(0);
}

void Connection::send(std::span<const std::byte> message) { execute(Chain().send(message)); }

Connection::Message Connection::receive() { return *receive_until(fabric::never_ns); }

std::optional<Connection::Message> Connection::receive_until(std::uint64_t deadline_ns) {
  fabric::WorkCompletion completion;
  while (receive_completions_->poll(std::span(&completion, 1)) == 0) {
    if (!receive_completions_->wait(deadline_ns)) return std::nullopt;
  }
  if (completion.status != fabric::CompletionStatus::success) throw Disconnected();
  const auto buffer = static_cast<std::uint32_t>(completion.id);
  const auto begin =
      buffers_->bytes().subspan(buffer_of(options_.send_buffers + std::uint64_t{buffer}));
  Message message(begin.begin(), begin.begin() + completion.length_bytes);
  post_receives(buffer, 1);
  return message;
}

Outcome Connection::execute(const Chain& chain) {
  Outcome outcome = try_execute(chain);
  for (std::size_t index = 0; index < outcome.size(); ++index) {
    if (outcome.status(index) == fabric::CompletionStatus::remote_access_error) {
      throw std::out_of_range(fmt::format("{} is outside of it, or {} does not permit it",
                                          outcome.describe(index), peer_));
    }
    if (outcome.status(index) != fabric::CompletionStatus::success) throw Disconnected();
  }
  return outcome;
}

fabric::WorkRequest Connection::prepare(const Chain::Request& planned, std::uint64_t number) {
  fabric::WorkRequest request = planned.request;
  if (request.length_bytes > options_.buffer_bytes) {
    throw std::logic_error(fmt::format("{} of {} bytes is longer than buffer_bytes, {}",
                                       to_string(request.opcode), request.length_bytes,
                                       options_.buffer_bytes));
  }
  const std::uint64_t offset = buffer_of(number % options_.send_buffers);
  std::ranges::copy(planned.data, buffers_->bytes().begin() + static_cast<std::ptrdiff_t>(offset));
  request.id = number;
  request.local = {.key = buffers_region_->local_key(), .offset = offset};
  return request;
}

Connection::Posted Connection::post(const Chain& chain) {
  const Posted posted{.first = next_number_, .count = chain.requests().size()};
  if (in_flight_.size() + posted.count > options_.send_buffers) {
    throw std::logic_error(fmt::format("{} requests to {} in flight are more than send_buffers, {}",
                                       in_flight_.size() + posted.count, peer_,
                                       options_.send_buffers));
  }
  std::vector<fabric::WorkRequest> requests;
  for (const Chain::Request& planned : chain.requests()) {
    requests.push_back(prepare(planned, posted.first + requests.size()));
  }
  const auto result = queue_pair_->post_send(requests);
  if (!result && result.error().code == fabric::ErrorCode::queue_pair_closed) throw Disconnected();
  if (!result) {
    throw std::runtime_error(fmt::format("post_send to {}: {}", peer_, result.error().detail));
  }
  for (const Chain::Request& planned : chain.requests()) {
    in_flight_.push_back({.number = next_number_++,
                          .part = {.data = {},
                                   .opcode = planned.request.opcode,
                                   .length_bytes = planned.request.length_bytes,
                                   .offset = planned.request.remote.offset,
                                   .region = planned.region}});
  }
  return posted;
}

Outcome Connection::wait(const Posted& posted) {
  std::vector<Outcome::Part> parts;
  for (std::uint64_t number = posted.first; number < posted.first + posted.count; ++number) {
    while (!complete_.contains(number)) {
      fabric::WorkCompletion completion;
      if (send_completions_->poll(std::span(&completion, 1)) == 0) {
        if (in_flight_.empty())
          throw std::logic_error("Connection::wait: the chain was waited for");
        send_completions_->wait(fabric::never_ns);
        continue;
      }
      complete_oldest(completion);
    }
    parts.push_back(std::move(complete_.extract(number).mapped()));
  }
  return {peer_, std::move(parts)};
}

void Connection::complete_oldest(const fabric::WorkCompletion& completion) {
  auto [number, part] = std::move(in_flight_.front());
  in_flight_.pop_front();
  FALAFEL_ASSERT(number == completion.id, "completions arrive in the order of posting");
  part.status = completion.status;
  if (part.status == fabric::CompletionStatus::success && fabric::returns_data(part.opcode)) {
    const auto buffer =
        buffers_->bytes().subspan(buffer_of(number % options_.send_buffers), part.length_bytes);
    part.data.assign(buffer.begin(), buffer.end());
  }
  complete_.emplace(number, std::move(part));
}

// -------------------------------------------------------------------------------------------------
// Endpoint

Endpoint::Endpoint(fabric::Host& host, std::uint16_t service)
    : host_(host), service_(service), domain_(host.device(0).create_protection_domain()) {}

const std::shared_ptr<fabric::MemoryBlock>& Endpoint::share(const std::string& name,
                                                            std::uint64_t size_bytes,
                                                            fabric::Access access) {
  share(name, value_of(host_.allocate_memory(size_bytes), "allocate_memory"), access);
  return shared_.back().memory;
}

void Endpoint::share(const std::string& name, const std::shared_ptr<fabric::MemoryBlock>& memory,
                     fabric::Access access) {
  shared_.push_back(
      {.name = name,
       .memory = memory,
       .region = value_of(domain_->register_memory(memory, 0, memory->bytes().size(), access),
                          "register_memory")});
  if (name.size() > longest_name || announcement().size() > fabric::max_private_data_bytes) {
    throw std::logic_error(fmt::format(
        "the names of what {} shares are too long: with 5 bytes for each they take more than {}",
        host_.name(), fabric::max_private_data_bytes));
  }
}

const Endpoint::Shared& Endpoint::shared(const std::string& name) const {
  const auto found = std::ranges::find(shared_, name, &Shared::name);
  if (found != shared_.end()) return *found;
  throw std::invalid_argument(fmt::format("{} shares no memory '{}'", host_.name(), name));
}

fabric::MemoryRegion& Endpoint::region(const std::string& name) { return *shared(name).region; }

fabric::PrivateData Endpoint::announcement() const {
  fabric::PrivateData data;
  for (const Shared& shared : shared_)
    append_region(data, shared.region->remote_key(), shared.name);
  return data;
}

std::unique_ptr<Connection> Endpoint::accept(const ConnectionOptions& options) {
  if (listener_ == nullptr) listener_ = value_of(host_.device(0).listen(service_), "listen");
  while (true) {
    const auto request = listener_->accept(fabric::never_ns);
    if (request == nullptr) throw Disconnected();
    std::unique_ptr<Connection> connection(new Connection(host_, *domain_, options, "a client"));
    const fabric::PrivateData regions_of_peer = request->private_data();
    auto queue_pair = request->accept(connection->queue_pair_options(*domain_), announcement());
    if (!queue_pair) continue;
    connection->begin(std::move(*queue_pair), regions_of_peer);
    return connection;
  }
}

void Endpoint::serve(const ConnectionOptions& options) {
  while (true) accepted_.push_back(accept(options));
}

std::unique_ptr<Connection> Endpoint::connect(const std::string& server,
                                              const ConnectionOptions& options,
                                              std::uint16_t service) {
  std::unique_ptr<Connection> connection(new Connection(host_, *domain_, options, server));
  auto connected = connect_patiently(host_, {.host = server, .service = service},
                                     connection->queue_pair_options(*domain_), announcement());
  connection->begin(std::move(connected.queue_pair), connected.private_data);
  return connection;
}

}  // namespace falafel::check
