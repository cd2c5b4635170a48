#include "stores/two_sided/port.h"

#include <algorithm>
#include <array>
#include <utility>

namespace falafel::two_sided {
namespace {

PortOutcome outcome_of(const fabric::WorkCompletion& completion) {
  return completion.status == fabric::CompletionStatus::success ? PortOutcome::done
                                                                : PortOutcome::broken;
}

}  // namespace

Port::Port(fabric::Host& host, const Options& options, const PortSizes& sizes)
    : host_(host),
      options_(options),
      sizes_(sizes),
      sent_(sizes.send_buffers),
      taken_(host.create_event()) {}

fabric::Result<std::unique_ptr<Port>> Port::create(fabric::Host& host, const Options& options,
                                                   const PortSizes& sizes) {
  std::unique_ptr<Port> port(new Port(host, options, sizes));
  if (auto prepared = port->prepare(); !prepared) return tl::unexpected(prepared.error());
  return port;
}

fabric::Result<void> Port::prepare() {
  fabric::Device& device = host_.device(0);
  domain_ = device.create_protection_domain();
  auto receives = device.create_completion_queue(sizes_.receive_requests);
  if (!receives) return tl::unexpected(receives.error());
  receives_ = std::move(*receives);
  auto sends = device.create_completion_queue(sizes_.send_buffers);
  if (!sends) return tl::unexpected(sends.error());
  sends_ = std::move(*sends);
  const std::uint64_t size_bytes = send_offset(sizes_.send_buffers);
  auto buffers =
      stores::RegisteredMemory::create(host_, *domain_, size_bytes, {.local_write = true});
  if (!buffers) return tl::unexpected(buffers.error());
  buffers_ = std::move(*buffers);
  return {};
}

fabric::QueuePairOptions Port::queue_pair_options(fabric::Transport transport) const {
  return {.transport = transport,
          .protection_domain = domain_.get(),
          .send_completions = sends_.get(),
          .receive_completions = receives_.get(),
          .max_send_requests = sizes_.send_buffers,
          .max_receive_requests = sizes_.receive_requests,
          .acknowledge_timeout_ns = options_.acknowledge_timeout_ns,
          .retry_count = options_.retry_count};
}

void Port::attach(std::unique_ptr<fabric::QueuePair> queue_pair) {
  queue_pair_ = std::move(queue_pair);
}

std::uint32_t Port::header_bytes() const {
  return options_.uses_datagrams() ? fabric::datagram_header_bytes : 0;
}

// Receiving

void Port::post_receive(std::uint32_t buffer) {
  const fabric::ReceiveRequest request{
      .id = buffer,
      .local = {.key = buffers_.region->local_key(), .offset = receive_offset(buffer)},
      .length_bytes = receive_bytes()};
  const auto posted = queue_pair_->post_receive({&request, 1});
  FALAFEL_ASSERT(posted.has_value(), "{}", posted.error().detail);
}

PortOutcome Port::receive(Arrival& arrival, std::uint64_t deadline_ns) {
  fabric::WorkCompletion completion;
  const PortOutcome outcome = waits_for_events() ? take_at_event(completion, deadline_ns)
                                                 : take(*receives_, completion, deadline_ns);
  if (outcome != PortOutcome::done) return outcome;
  arrival = {.buffer = static_cast<std::uint32_t>(completion.id),
             .length_bytes = completion.length_bytes,
             .source = completion.source};
  return PortOutcome::done;
}

std::span<const std::byte> Port::message(const Arrival& arrival) const {
  return buffers_.block->bytes().subspan(receive_offset(arrival.buffer) + header_bytes(),
                                         arrival.length_bytes - header_bytes());
}

// Sending

PortOutcome Port::send(std::uint32_t buffer, std::span<const std::byte> message,
                       const fabric::DatagramAddress& destination, std::uint64_t deadline_ns) {
  sent_[buffer].reset();
  std::ranges::copy(message, buffers_.block->bytes().subspan(send_offset(buffer)).begin());
  fabric::WorkRequest request;
  request.id = buffer;
  request.opcode = fabric::Opcode::send;
  request.length_bytes = static_cast<std::uint32_t>(message.size());
  request.local = {.key = buffers_.region->local_key(), .offset = send_offset(buffer)};
  request.destination = destination;
  const auto posted = queue_pair_->post_send({&request, 1});
  FALAFEL_ASSERT(posted.has_value(), "{}", posted.error().detail);
  while (!sent_[buffer]) {
    if (takes_sent_) {
      if (!taken_->wait(deadline_ns)) return PortOutcome::timed_out;
    } else if (!take_sent(deadline_ns)) {
      return PortOutcome::timed_out;
    }
  }
  return *sent_[buffer];
}

// Takes the completion of a SEND, for whoever waits for it. False: the deadline has passed.
bool Port::take_sent(std::uint64_t deadline_ns) {
  fabric::WorkCompletion completion;
  takes_sent_ = true;
  const PortOutcome outcome = take(*sends_, completion, deadline_ns);
  takes_sent_ = false;
  taken_->notify_all();
  if (outcome == PortOutcome::timed_out) return false;
  sent_[completion.id] = outcome;
  return true;
}

// Completions

PortOutcome Port::take(fabric::CompletionQueue& completions, fabric::WorkCompletion& completion,
                       std::uint64_t deadline_ns) {
  while (completions.poll({&completion, 1}) == 0) {
    if (options_.waiting != Waiting::polling) {
      if (!completions.wait(deadline_ns)) return PortOutcome::timed_out;
    } else {
      if (deadline_ns != fabric::never_ns && host_.now_ns() >= deadline_ns) {
        return PortOutcome::timed_out;
      }
      host_.yield();
    }
  }
  return outcome_of(completion);
}

bool Port::waits_for_events() const {
  return options_.uses_datagrams() && options_.waiting == Waiting::blocking_on_events;
}

PortOutcome Port::take_at_event(fabric::WorkCompletion& completion, std::uint64_t deadline_ns) {
  while (!take_event()) {
    if (!receives_->wait(deadline_ns)) return PortOutcome::timed_out;
  }
  host_.preemption_point();
  // The queue is armed now. All that has arrived raises no event.
  while (take_event()) {
  }
  completion = arrived_.front();
  arrived_.pop_front();
  return outcome_of(completion);
}

// Something has arrived after the queue was armed.
bool Port::take_event() {
  fabric::WorkCompletion completion;
  if (receives_->poll({&completion, 1}) == 0) return false;
  arrived_.push_back(completion);
  return true;
}

}  // namespace falafel::two_sided
