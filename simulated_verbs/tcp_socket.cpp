#include "simulated_verbs/tcp_socket.h"

#include <poll.h>

#include <cerrno>

#include "simulated_verbs/internet_address.h"

namespace falafel::simulated_verbs {

TcpSocket::TcpSocket(std::shared_ptr<TcpStack> stack, std::shared_ptr<TcpConnection> connection)
    : stack_(std::move(stack)), local_(connection->local()), connection_(std::move(connection)) {}

TcpSocket::~TcpSocket() {
  if (listener_ != nullptr) listener_->close();
  if (connection_ != nullptr) connection_->close();
}

void TcpSocket::abandon() {
  if (listener_ != nullptr) std::exchange(listener_, nullptr)->abandon();
  if (connection_ != nullptr) std::exchange(connection_, nullptr)->abandon();
}

SystemResult TcpSocket::listen(int backlog) {
  if (connection_ != nullptr) return -EINVAL;
  if (listener_ != nullptr) {
    listener_->set_backlog(backlog);
    return 0;
  }
  listener_ = TcpListener::listen(stack_, *local_, backlog);
  return listener_ == nullptr ? -EADDRINUSE : 0;
}

bool TcpSocket::has_failed_to_connect() const {
  return connection_ != nullptr && !connection_->is_connecting() && !connection_->was_established();
}

SystemResult TcpSocket::connect(const Endpoint& remote) {
  if (listener_ != nullptr) return -EISCONN;
  if (has_failed_to_connect()) {
    if (const int error = take_error(); error != 0) return -error;
  }
  if (connection_ != nullptr) return connection_->is_connecting() ? -EALREADY : -EISCONN;
  if (stack_->lid_of(remote.address) == 0) return -EHOSTUNREACH;
  const bool is_own = is_loopback(remote.address) || remote.address == any_address;
  if (local_->address == any_address) {
    local_->address = is_own ? loopback_address : stack_->own_address();
  }
  const Endpoint peer{.address = remote.address == any_address ? loopback_address : remote.address,
                      .port = remote.port};
  connection_ = TcpConnection::connect(stack_, *local_, peer);
  return finish_connecting();
}

SystemResult TcpSocket::finish_connecting() {
  const std::shared_ptr<TcpConnection> connection = connection_;
  const auto is_answered = [&connection] { return !connection->is_connecting(); };
  if (!stack_->wait_until(is_answered, deadline_ns(send_timeout_ns_, 0))) return -EINPROGRESS;
  return -take_error();
}

SystemResult TcpSocket::accept(std::shared_ptr<TcpSocket>& accepted) {
  if (listener_ == nullptr) return -EINVAL;
  std::shared_ptr<TcpConnection> connection =
      listener_->accept(deadline_ns(receive_timeout_ns_, 0));
  if (connection == nullptr) return -EAGAIN;
  accepted = std::make_shared<TcpSocket>(stack_, std::move(connection));
  return 0;
}

// An error of connecting is reported once; the socket may then connect again.
int TcpSocket::take_error() {
  if (connection_ == nullptr) return 0;
  const int error = connection_->take_error();
  if (has_failed_to_connect()) connection_.reset();
  return error;
}

std::uint64_t TcpSocket::deadline_ns(std::uint64_t timeout_ns, int flags) const {
  if (is_nonblocking() || (flags & MSG_DONTWAIT) != 0) return 0;
  return timeout_ns == fabric::never_ns ? timeout_ns : stack_->host().now_ns() + timeout_ns;
}

SystemResult TcpSocket::receive(std::span<std::byte> destination, int flags) {
  if (connection_ == nullptr) return -ENOTCONN;
  const std::shared_ptr<TcpConnection> connection = connection_;
  return connection->receive(destination, flags, deadline_ns(receive_timeout_ns_, flags));
}

SystemResult TcpSocket::send(std::span<const std::byte> source, int flags) {
  if (connection_ == nullptr) return -EPIPE;
  const std::shared_ptr<TcpConnection> connection = connection_;
  return connection->send(source, deadline_ns(send_timeout_ns_, flags));
}

SystemResult TcpSocket::shut_down(int how) {
  return connection_ == nullptr ? -ENOTCONN : connection_->shut_down(how);
}

SystemResult TcpSocket::peer(Endpoint& endpoint) const {
  if (connection_ == nullptr || !connection_->was_established()) return -ENOTCONN;
  endpoint = connection_->remote();
  return 0;
}

short TcpSocket::ready_events() const {
  if (listener_ != nullptr) return listener_->has_connections() ? POLLIN | POLLRDNORM : 0;
  if (connection_ != nullptr) return connection_->ready_events();
  return POLLOUT | POLLWRNORM | POLLHUP;
}

}  // namespace falafel::simulated_verbs
