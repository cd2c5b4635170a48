// The calls of a program on its end of a connection.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "simulated_verbs/tcp_connection.h"

namespace falafel::simulated_verbs {

bool TcpConnection::may_receive(std::size_t wanted_bytes) const {
  return arrived_bytes() >= wanted_bytes || peer_is_finished_ || reads_no_more_ ||
         state_ == State::ended;
}

SystemResult TcpConnection::take(std::span<std::byte> destination, bool peeks) {
  const std::size_t count = std::min(destination.size(), arrived_bytes());
  std::ranges::copy(std::span(arrived_).subspan(taken_, count), destination.begin());
  if (peeks) return static_cast<SystemResult>(count);
  taken_ += count;
  if (arrived_bytes() == 0 || taken_ > receive_buffer_bytes) {
    arrived_.erase(arrived_.begin(), arrived_.begin() + static_cast<std::ptrdiff_t>(taken_));
    taken_ = 0;
  }
  if (state_ == State::established) post_receives();
  return static_cast<SystemResult>(count);
}

SystemResult TcpConnection::receive(std::span<std::byte> destination, int flags,
                                    std::uint64_t deadline_ns) {
  const bool peeks = (flags & MSG_PEEK) != 0;
  const bool wants_all = (flags & MSG_WAITALL) != 0;
  SystemResult received = 0;
  while (!destination.empty()) {
    const std::size_t wanted_bytes =
        wants_all ? std::min(destination.size(), receive_buffer_bytes) : 1;
    const auto is_ready = [&] { return may_receive(wanted_bytes); };
    if (!stack_->wait_until(is_ready, deadline_ns) && !may_receive()) {
      return received > 0 ? received : -EAGAIN;
    }
    const SystemResult count = take(destination, peeks);
    received += count;
    destination = destination.subspan(static_cast<std::size_t>(count));
    if (count == 0 && received == 0) return -take_error();
    if (count == 0 || peeks || !wants_all) break;
  }
  return received;
}

bool TcpConnection::may_send() const {
  return state_ == State::ended || (state_ == State::established &&
                                    (is_finished_ || free_send_slots_.size() > kernel_send_slots));
}

SystemResult TcpConnection::send(std::span<const std::byte> source, std::uint64_t deadline_ns) {
  SystemResult sent = 0;
  do {
    if (!stack_->wait_until([this] { return may_send(); }, deadline_ns)) {
      return sent > 0 ? sent : -EAGAIN;
    }
    if (state_ == State::ended || is_finished_) {
      if (sent > 0) return sent;
      return error_ != 0 ? -take_error() : -EPIPE;
    }
    const auto segment = source.first(std::min<std::size_t>(source.size(), segment_bytes));
    if (segment.empty()) return 0;
    post_segment(Segment::data, segment);
    sent += static_cast<SystemResult>(segment.size());
    source = source.subspan(segment.size());
  } while (!source.empty());
  return sent;
}

SystemResult TcpConnection::shut_down(int how) {
  if (how != SHUT_RD && how != SHUT_WR && how != SHUT_RDWR) return -EINVAL;
  if (state_ != State::established) return -ENOTCONN;
  if (how != SHUT_WR) reads_no_more_ = true;
  if (how != SHUT_RD) finish();
  stack_->notify();
  return 0;
}

short TcpConnection::ready_events() const {
  int events = 0;
  if (may_receive()) events |= POLLIN | POLLRDNORM;
  if (may_send()) events |= POLLOUT | POLLWRNORM;
  if (peer_is_finished_ || reads_no_more_ || state_ == State::ended) events |= POLLRDHUP;
  if (state_ == State::ended || (is_finished_ && peer_is_finished_)) events |= POLLHUP;
  if (error_ != 0) events |= POLLERR;
  return static_cast<short>(events);
}

// As in TCP, data that the program has not taken resets the connection.
void TcpConnection::close() {
  is_closed_ = true;
  if (state_ == State::ended) return;
  if (state_ == State::connecting || arrived_bytes() > 0) {
    reset();
    return;
  }
  finish();
  if (is_over()) reset();
}

void TcpConnection::reset() {
  end(0);
  abandon();
}

void TcpConnection::abandon() { stack_->host().cancel(fiber_); }

}  // namespace falafel::simulated_verbs
