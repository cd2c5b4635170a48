#include "explorer/check/datagrams.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "explorer/check/connecting.h"

namespace falafel::check {
namespace {

// Words are whole, so buffers begin at words.
std::uint64_t distance_bytes(const DatagramOptions& options) {
  const std::uint64_t bytes = fabric::datagram_header_bytes + options.buffer_bytes;
  return (bytes + fabric::word_bytes - 1) / fabric::word_bytes * fabric::word_bytes;
}

}  // namespace

Datagrams::Datagrams(fabric::Host& host, const DatagramOptions& options)
    : host_(host),
      options_(options),
      domain_(host.device(0).create_protection_domain()),
      buffers_(value_of(host.allocate_memory(distance_bytes(options) *
                                             (std::uint64_t{options.receive_buffers} + 1)),
                        "allocate_memory")),
      region_(value_of(
          domain_->register_memory(buffers_, 0, buffers_->bytes().size(), {.local_write = true}),
          "register_memory")),
      send_completions_(
          value_of(host.device(0).create_completion_queue(1), "create_completion_queue")),
      receive_completions_(value_of(host.device(0).create_completion_queue(options.receive_buffers),
                                    "create_completion_queue")),
      queue_pair_(value_of(host.device(0).create_datagram_queue_pair(
                               {.transport = fabric::Transport::unreliable_datagram,
                                .protection_domain = domain_.get(),
                                .send_completions = send_completions_.get(),
                                .receive_completions = receive_completions_.get(),
                                .max_send_requests = 1,
                                .max_receive_requests = options.receive_buffers}),
                           "create_datagram_queue_pair")) {
  for (std::uint64_t buffer = 0; buffer < options.receive_buffers; ++buffer) post_receive(buffer);
}

std::uint64_t Datagrams::offset_of(std::uint64_t buffer) const {
  return buffer * distance_bytes(options_);
}

void Datagrams::post_receive(std::uint64_t buffer) {
  const fabric::ReceiveRequest request{
      .id = buffer,
      .local = {.key = region_->local_key(), .offset = offset_of(buffer)},
      .length_bytes = fabric::datagram_header_bytes + options_.buffer_bytes};
  const auto posted = queue_pair_->post_receive(std::span(&request, 1));
  if (!posted) throw std::runtime_error(fmt::format("post_receive: {}", posted.error().detail));
}

fabric::DatagramAddress Datagrams::resolve(const std::string& host, std::uint32_t number) {
  return value_of(host_.device(0).resolve(host, number), "resolve");
}

void Datagrams::send(const fabric::DatagramAddress& destination,
                     std::span<const std::byte> message) {
  if (message.size() > options_.buffer_bytes) {
    throw std::logic_error(fmt::format("a datagram of {} bytes is longer than buffer_bytes, {}",
                                       message.size(), options_.buffer_bytes));
  }
  const std::uint64_t offset = offset_of(options_.receive_buffers);
  std::ranges::copy(message, buffers_->bytes().begin() + static_cast<std::ptrdiff_t>(offset));
  const fabric::WorkRequest request{.opcode = fabric::Opcode::send,
                                    .length_bytes = static_cast<std::uint32_t>(message.size()),
                                    .local = {.key = region_->local_key(), .offset = offset},
                                    .destination = destination};
  const auto posted = queue_pair_->post_send(std::span(&request, 1));
  if (!posted) throw std::runtime_error(fmt::format("post_send: {}", posted.error().detail));
  send_completions_->wait(fabric::never_ns);
  fabric::WorkCompletion completion;
  send_completions_->poll(std::span(&completion, 1));
}

Datagrams::Received Datagrams::receive() { return *receive_until(fabric::never_ns); }

std::optional<Datagrams::Received> Datagrams::receive_until(std::uint64_t deadline_ns) {
  fabric::WorkCompletion completion;
  while (receive_completions_->poll(std::span(&completion, 1)) == 0) {
    if (!receive_completions_->wait(deadline_ns)) return std::nullopt;
  }
  const auto bytes = buffers_->bytes()
                         .subspan(offset_of(completion.id), completion.length_bytes)
                         .subspan(fabric::datagram_header_bytes);
  Received received{.source = completion.source, .message = {bytes.begin(), bytes.end()}};
  post_receive(completion.id);
  return received;
}

}  // namespace falafel::check
