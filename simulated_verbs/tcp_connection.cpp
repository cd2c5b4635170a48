#include "simulated_verbs/tcp_connection.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "fabric/time_units.h"
#include "simulated_verbs/internet_address.h"

namespace falafel::simulated_verbs {

using fabric::CompletionStatus;
using fabric::Result;
using fabric::WorkCompletion;

namespace {

// A slot is a buffer for one message.
constexpr std::uint32_t send_slots = 8;
constexpr std::uint32_t receive_slots = 4;
// Linux gives up on a silent peer after a quarter of an hour (tcp_retries2).
constexpr std::uint64_t acknowledge_timeout_ns = 115 * fabric::second_ns;
// Linux asks again after a second, and gives up after about two minutes (tcp_syn_retries).
constexpr std::uint64_t request_timeout_ns = fabric::second_ns;
constexpr int most_timeouts = 127;
constexpr std::uint64_t first_retry_ns = 10 * fabric::microsecond_ns;
constexpr int least_refusals = 20;

// A client tells the listener where it comes from.
constexpr std::size_t encoded_endpoint_bytes = sizeof(std::uint32_t) + sizeof(std::uint16_t);

fabric::PrivateData to_private_data(const Endpoint& endpoint) {
  fabric::PrivateData data(encoded_endpoint_bytes);
  std::memcpy(data.data(), &endpoint.address, sizeof endpoint.address);
  std::memcpy(data.data() + sizeof endpoint.address, &endpoint.port, sizeof endpoint.port);
  return data;
}

Endpoint from_private_data(const fabric::PrivateData& data) {
  Endpoint endpoint;
  std::memcpy(&endpoint.address, data.data(), sizeof endpoint.address);
  std::memcpy(&endpoint.port, data.data() + sizeof endpoint.address, sizeof endpoint.port);
  return endpoint;
}

int error_of_connecting(fabric::ErrorCode code) {
  switch (code) {
    case fabric::ErrorCode::connection_refused: return ECONNREFUSED;
    case fabric::ErrorCode::unreachable: return ETIMEDOUT;
    default: return ENOBUFS;
  }
}

// Decides for how long a client tries to connect.
class Patience {
 public:
  explicit Patience(TcpStack& stack) : stack_(stack), is_starting_(stack.is_starting()) {}

  // Waits before the next try.
  bool permits_another_try(fabric::ErrorCode error) {
    if (error == fabric::ErrorCode::unreachable) return ++timeouts_ < most_timeouts;
    if (error != fabric::ErrorCode::connection_refused || !is_starting_) return false;
    // The simulator may delay a refusal beyond the time of starting.
    if (++refusals_ >= least_refusals && !stack_.is_starting()) return false;
    stack_.host().sleep_until(stack_.host().now_ns() + pause_ns_);
    pause_ns_ *= 2;
    return true;
  }

 private:
  TcpStack& stack_;
  bool is_starting_;
  int timeouts_ = 0;
  int refusals_ = 0;
  std::uint64_t pause_ns_ = first_retry_ns;
};

}  // namespace

TcpConnection::TcpConnection(std::shared_ptr<TcpStack> stack, const Endpoint& local,
                             const Endpoint& remote)
    : stack_(std::move(stack)), local_(local), remote_(remote) {}

std::shared_ptr<TcpConnection> TcpConnection::connect(std::shared_ptr<TcpStack> stack,
                                                      const Endpoint& local,
                                                      const Endpoint& remote) {
  auto connection = std::make_shared<TcpConnection>(std::move(stack), local, remote);
  connection->start(&TcpConnection::connect_and_serve);
  return connection;
}

std::shared_ptr<TcpConnection> TcpConnection::accept(std::shared_ptr<TcpStack> stack,
                                                     const Endpoint& local,
                                                     fabric::ConnectionRequest& request) {
  if (request.private_data().size() != encoded_endpoint_bytes) return nullptr;
  const Endpoint remote = from_private_data(request.private_data());
  const std::uint32_t own_address =
      is_loopback(remote.address) ? loopback_address : stack->own_address();
  auto connection = std::make_shared<TcpConnection>(
      std::move(stack), Endpoint{.address = own_address, .port = local.port}, remote);
  if (!connection->allocate()) return nullptr;
  Result<std::unique_ptr<fabric::QueuePair>> accepted = request.accept(connection->options(), {});
  if (!accepted) return nullptr;
  connection->establish(std::move(*accepted));
  connection->start(&TcpConnection::serve);
  return connection;
}

// -------------------------------------------------------------------------------------------------
// Connecting

Result<void> TcpConnection::allocate() {
  constexpr std::uint32_t slots = send_slots + receive_slots;
  constexpr std::uint64_t size_bytes = std::uint64_t{slots} * message_bytes;
  auto memory = stack_->host().allocate_memory(size_bytes);
  if (!memory) return tl::unexpected<fabric::Error>(memory.error());
  memory_ = std::move(*memory);
  auto region = stack_->domain().register_memory(memory_, 0, size_bytes, {.local_write = true});
  if (!region) return tl::unexpected<fabric::Error>(region.error());
  region_ = std::move(*region);
  auto completions = stack_->device().create_completion_queue(slots);
  if (!completions) return tl::unexpected<fabric::Error>(completions.error());
  completions_ = std::move(*completions);
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    (slot < send_slots ? free_send_slots_ : free_receive_slots_).push_back(slot);
  }
  return {};
}

fabric::QueuePairOptions TcpConnection::options() {
  return {.transport = fabric::Transport::message_stream,
          .protection_domain = &stack_->domain(),
          .send_completions = completions_.get(),
          .receive_completions = completions_.get(),
          .max_send_requests = send_slots,
          .max_receive_requests = receive_slots,
          .acknowledge_timeout_ns = acknowledge_timeout_ns};
}

void TcpConnection::start(void (TcpConnection::*body)()) {
  fiber_ = stack_->host().spawn({.name = "TCP connection", .daemon = true},
                                [self = shared_from_this(), body] { (self.get()->*body)(); });
}

void TcpConnection::connect_and_serve() {
  Result<fabric::Connection> connected = request_connection();
  if (!connected) {
    end(error_of_connecting(connected.error().code));
    return;
  }
  establish(std::move(connected->queue_pair));
  is_confirmed_ = true;
  post_segment(Segment::confirmation, {});
  stack_->notify();
  serve();
}

Result<fabric::Connection> TcpConnection::request_connection() {
  if (Result<void> allocated = allocate(); !allocated) {
    return tl::unexpected<fabric::Error>(allocated.error());
  }
  fabric::Host& host = stack_->host();
  const fabric::Address address{.host = *stack_->subnet().host_of(stack_->lid_of(remote_.address)),
                                .service = remote_.port};
  const Endpoint sender{
      .address = is_loopback(local_.address) ? local_.address : stack_->own_address(),
      .port = local_.port};
  Patience patience(*stack_);
  for (;;) {
    Result<fabric::Connection> connected = stack_->device().connect(
        address, options(), to_private_data(sender), host.now_ns() + request_timeout_ns);
    if (connected || !patience.permits_another_try(connected.error().code)) return connected;
  }
}

void TcpConnection::establish(std::unique_ptr<fabric::QueuePair> queue_pair) {
  queue_pair_ = std::move(queue_pair);
  state_ = State::established;
  was_established_ = true;
  post_receives();
}

// -------------------------------------------------------------------------------------------------
// The kernel's part

void TcpConnection::serve() {
  std::array<WorkCompletion, send_slots + receive_slots> polled;
  while (state_ == State::established) {
    completions_->wait(fabric::never_ns);
    const std::size_t count = completions_->poll(polled);
    for (std::size_t index = 0; index < count; ++index) handle(polled[index]);
    if (state_ == State::established) post_receives();
    if (is_closed_ && is_over()) end(0);
    stack_->notify();
  }
}

void TcpConnection::handle(const WorkCompletion& completion) {
  const bool is_success = completion.status == CompletionStatus::success;
  const auto slot = static_cast<std::uint32_t>(completion.id);
  const bool is_receive = completion.opcode == fabric::Opcode::receive;
  if (is_success && is_receive) {
    const auto message = bytes_of(slot).first(completion.length_bytes);
    handle_segment(static_cast<Segment>(message.front()), message.subspan(1));
    free_receive_slots_.push_back(slot);
  } else if (is_success) {
    --pending_sends_;
    free_send_slots_.push_back(slot);
  } else if (peer_is_finished_) {
    end(is_receive || is_finished_ ? 0 : EPIPE);
  } else {
    end(ECONNRESET);
  }
}

void TcpConnection::handle_segment(Segment kind, std::span<const std::byte> data) {
  switch (kind) {
    case Segment::confirmation: is_confirmed_ = true; break;
    case Segment::data:
      if (is_closed_) {
        end(0);  // as in TCP, data that nobody will read resets the connection
      } else {
        arrived_.insert(arrived_.end(), data.begin(), data.end());
      }
      break;
    case Segment::end:
      peer_is_finished_ = true;
      if (state_ == State::established) post_segment(Segment::acknowledgement_of_end, {});
      break;
    case Segment::acknowledgement_of_end: end_is_acknowledged_ = true; break;
  }
}

// As long as the program does not take what has arrived, further segments wait at the sender.
void TcpConnection::post_receives() {
  while (!free_receive_slots_.empty() && arrived_bytes() < receive_buffer_bytes) {
    const std::uint32_t slot = free_receive_slots_.back();
    free_receive_slots_.pop_back();
    const fabric::ReceiveRequest request{
        .id = slot, .local = address_of(slot), .length_bytes = message_bytes};
    const bool is_posted = queue_pair_->post_receive({&request, 1}).has_value();
    FALAFEL_ASSERT(is_posted, "a socket's queue pair refuses a receive request");
  }
}

// Requires a free slot.
void TcpConnection::post_segment(Segment kind, std::span<const std::byte> data) {
  const std::uint32_t slot = free_send_slots_.back();
  free_send_slots_.pop_back();
  const std::span<std::byte> message = bytes_of(slot);
  message.front() = static_cast<std::byte>(kind);
  std::ranges::copy(data, message.begin() + 1);
  const fabric::WorkRequest request{.id = slot,
                                    .opcode = fabric::Opcode::send,
                                    .length_bytes = static_cast<std::uint32_t>(1 + data.size()),
                                    .local = address_of(slot)};
  const bool is_posted = queue_pair_->post_send({&request, 1}).has_value();
  FALAFEL_ASSERT(is_posted, "a socket's queue pair refuses a segment");
  ++pending_sends_;
}

void TcpConnection::finish() {
  if (is_finished_) return;
  is_finished_ = true;
  post_segment(Segment::end, {});
}

void TcpConnection::end(int error) {
  if (state_ == State::ended) return;
  state_ = State::ended;
  error_ = error;
  if (queue_pair_ != nullptr) queue_pair_->close();
  stack_->notify();
}

std::span<std::byte> TcpConnection::bytes_of(std::uint32_t slot) const {
  return memory_->bytes().subspan(std::size_t{slot} * message_bytes, message_bytes);
}

fabric::MemoryAddress TcpConnection::address_of(std::uint32_t slot) const {
  return {.key = region_->local_key(), .offset = std::uint64_t{slot} * message_bytes};
}

}  // namespace falafel::simulated_verbs
