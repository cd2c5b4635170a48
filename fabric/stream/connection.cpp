#include "fabric/stream/connection.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <limits>
#include <utility>

#include "fabric/posting_rules.h"
#include "fabric/time_units.h"

namespace falafel::stream {

using boost::system::error_code;
using fabric::CompletionStatus;
using fabric::QueuePairState;
using fabric::Result;

namespace {

namespace asio = boost::asio;

std::array<std::byte, 4> to_bytes(std::uint32_t number) {
  static_assert(std::endian::native == std::endian::little);
  return std::bit_cast<std::array<std::byte, 4>>(number);
}

// How long the kernel keeps data that the other side does not acknowledge, in its unit.
int user_timeout_ms(const fabric::QueuePairOptions& options) {
  const std::uint64_t attempts = options.retry_count + std::uint64_t{1};
  const std::uint64_t longest = std::numeric_limits<int>::max();
  const std::uint64_t attempt_ms =
      std::min(options.acknowledge_timeout_ns / fabric::millisecond_ns + 1, longest / attempts);
  return static_cast<int>(attempt_ms * attempts);
}

}  // namespace

Connection::Connection(std::uint32_t number, const fabric::QueuePairOptions& options,
                       const fabric::DeviceAttributes& device)
    : number_(number),
      options_(options),
      device_(device),
      domain_(static_cast<ProtectionDomain*>(options.protection_domain)->state()),
      send_completions_(*static_cast<CompletionQueue*>(options.send_completions)),
      receive_completions_(*static_cast<CompletionQueue*>(options.receive_completions)) {
  send_completions_.reserve(options.max_send_requests);
  receive_completions_.reserve(options.max_receive_requests);
}

void Connection::attach(asio::ip::tcp::socket socket) {
  error_code ignored;  // a socket that failed already says so when it is used
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  const int timeout_ms = user_timeout_ms(options_);
  ::setsockopt(socket.native_handle(), IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms,
               sizeof timeout_ms);
  socket_ = std::move(socket);
  receive_next();
}

// -------------------------------------------------------------------------------------------------
// Posting

template <typename Request>
std::vector<Connection::Piece> Connection::pieces_of(const Request& request) const {
  std::vector<Piece> pieces;
  const auto add = [&](const fabric::MemoryAddress& address, std::uint64_t length_bytes) {
    const RegisteredRange& range = *domain_->find(address.key);
    pieces.push_back({.block = range.block,
                      .bytes = range.block->bytes().subspan(address.offset, length_bytes)});
  };
  if (request.length_bytes == 0) return pieces;
  if (request.segments.empty()) add(request.local, request.length_bytes);
  for (const fabric::LocalSegment& segment : request.segments) {
    add(segment.address, segment.length_bytes);
  }
  return pieces;
}

Result<void> Connection::post_send(std::span<const fabric::WorkRequest> chain) {
  const auto examine = [this](std::size_t /*index*/, const fabric::MemoryAddress& local,
                              std::uint64_t length_bytes, bool is_written) {
    return fabric::examine_local_buffer(domain_->find(local.key), local, length_bytes, is_written);
  };
  const fabric::QueueOccupancy occupancy{.queue_pair_number = number_,
                                         .is_closed = state_ == QueuePairState::closed,
                                         .places_taken = taken_send_places_};
  if (Result<void> checked = fabric::check_send_chain(chain, occupancy, options_, device_, examine);
      !checked) {
    return checked;
  }
  for (const fabric::WorkRequest& work : chain) enqueue(work);
  if (state_ == QueuePairState::error) {
    flush();
  } else {
    send_next();
  }
  return {};
}

void Connection::enqueue(const fabric::WorkRequest& work) {
  Send send{.work = work, .pieces = pieces_of(work), .inlined = {}};
  send.work.segments = {};  // the program's list need not outlive this call
  if (work.inlined) {
    for (const Piece& piece : send.pieces) {
      send.inlined.insert(send.inlined.end(), piece.bytes.begin(), piece.bytes.end());
    }
    send.pieces = {{.block = nullptr, .bytes = send.inlined}};
  }
  sends_.push_back(std::move(send));
  ++taken_send_places_;
}

Result<void> Connection::post_receive(std::span<const fabric::ReceiveRequest> chain) {
  const auto examine = [this](std::size_t /*index*/, const fabric::MemoryAddress& local,
                              std::uint64_t length_bytes, bool is_written) {
    return fabric::examine_local_buffer(domain_->find(local.key), local, length_bytes, is_written);
  };
  const fabric::QueueOccupancy occupancy{.queue_pair_number = number_,
                                         .is_closed = state_ == QueuePairState::closed,
                                         .places_taken = taken_receive_places_};
  if (Result<void> checked = fabric::check_receive_chain(chain, occupancy, options_, examine);
      !checked) {
    return checked;
  }
  for (const fabric::ReceiveRequest& request : chain) {
    receives_.push_back(
        {.id = request.id, .length_bytes = request.length_bytes, .pieces = pieces_of(request)});
    ++taken_receive_places_;
  }
  if (state_ == QueuePairState::error) {
    flush();
  } else {
    receive_next();
  }
  return {};
}

void Connection::give_back_places(fabric::Opcode opcode, std::uint32_t places) {
  (fabric::is_receive(opcode) ? taken_receive_places_ : taken_send_places_) -= places;
}

// -------------------------------------------------------------------------------------------------
// Sending

void Connection::send_next() {
  if (is_sending_ || sends_.empty()) return;
  is_sending_ = true;
  const Send& send = sends_.front();
  outgoing_length_ = to_bytes(send.work.length_bytes);
  std::vector<asio::const_buffer> buffers{asio::buffer(outgoing_length_)};
  for (const Piece& piece : send.pieces) {
    buffers.emplace_back(piece.bytes.data(), piece.bytes.size());
  }
  asio::async_write(*socket_, buffers,
                    [self = shared_from_this()](const error_code& error, std::size_t) {
                      self->finish_send(error);
                    });
}

// The kernel has the message.
void Connection::finish_send(const error_code& error) {
  is_sending_ = false;
  if (state_ != QueuePairState::ready) return;
  if (error) return end(CompletionStatus::retry_exceeded);
  complete_send(CompletionStatus::success);
  send_next();
}

void Connection::complete_send(CompletionStatus status) {
  const Send send = std::move(sends_.front());
  sends_.pop_front();
  ++unsignalled_;
  if (!send.work.signalled && status == CompletionStatus::success) return;
  send_completions_.push({.completion = {.id = send.work.id,
                                         .status = status,
                                         .opcode = send.work.opcode,
                                         .length_bytes = send.work.length_bytes,
                                         .queue_pair_number = number_},
                          .owner = this,
                          .places = std::exchange(unsignalled_, 0)});
}

// -------------------------------------------------------------------------------------------------
// Receiving

void Connection::receive_next() {
  if (is_receiving_ || receives_.empty() || !socket_) return;
  is_receiving_ = true;
  asio::async_read(*socket_, asio::buffer(incoming_length_),
                   [self = shared_from_this()](const error_code& error, std::size_t) {
                     self->receive_data(error);
                   });
}

// The length of a message has arrived.
void Connection::receive_data(const error_code& error) {
  if (error || state_ != QueuePairState::ready) return finish_receive(error);
  std::uint64_t bytes_left = std::bit_cast<std::uint32_t>(incoming_length_);
  const Receive& receive = receives_.front();
  if (bytes_left > receive.length_bytes) {
    is_receiving_ = false;
    complete_receive(CompletionStatus::local_length_error, 0);
    return end(CompletionStatus::flushed);
  }
  std::vector<asio::mutable_buffer> buffers;
  for (const Piece& piece : receive.pieces) {
    const std::uint64_t length_bytes = std::min<std::uint64_t>(bytes_left, piece.bytes.size());
    buffers.emplace_back(piece.bytes.data(), length_bytes);
    bytes_left -= length_bytes;
  }
  asio::async_read(*socket_, buffers,
                   [self = shared_from_this()](const error_code& failure, std::size_t) {
                     self->finish_receive(failure);
                   });
}

void Connection::finish_receive(const error_code& error) {
  is_receiving_ = false;
  if (state_ != QueuePairState::ready) return;
  if (error) return end(CompletionStatus::retry_exceeded);
  complete_receive(CompletionStatus::success, std::bit_cast<std::uint32_t>(incoming_length_));
  receive_next();
}

void Connection::complete_receive(CompletionStatus status, std::uint32_t length_bytes) {
  receive_completions_.push({.completion = {.id = receives_.front().id,
                                            .status = status,
                                            .opcode = fabric::Opcode::receive,
                                            .length_bytes = length_bytes,
                                            .queue_pair_number = number_},
                             .owner = this,
                             .places = 1});
  receives_.pop_front();
}

// -------------------------------------------------------------------------------------------------
// The end

void Connection::end(CompletionStatus status_of_oldest_send) {
  state_ = QueuePairState::error;
  close_socket();
  if (!sends_.empty()) complete_send(status_of_oldest_send);
  flush();
}

void Connection::flush() {
  while (!sends_.empty()) complete_send(CompletionStatus::flushed);
  while (!receives_.empty()) complete_receive(CompletionStatus::flushed, 0);
}

// The kernel still sends what it has accepted. It resets the connection if something was received
// that nobody has read.
void Connection::close_socket() {
  error_code ignored;
  if (socket_) socket_->close(ignored);
}

void Connection::move_to_error() {
  if (state_ == QueuePairState::ready) end(CompletionStatus::flushed);
}

void Connection::close() {
  if (state_ == QueuePairState::closed) return;
  state_ = QueuePairState::closed;
  close_socket();
  sends_.clear();
  receives_.clear();
  send_completions_.release(*this, options_.max_send_requests);
  receive_completions_.release(*this, options_.max_receive_requests);
}

}  // namespace falafel::stream
