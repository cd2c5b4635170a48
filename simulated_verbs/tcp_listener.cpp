#include "simulated_verbs/tcp_listener.h"

#include <algorithm>
#include <utility>

namespace falafel::simulated_verbs {

namespace {

constexpr int longest_backlog = 4096;  // net.core.somaxconn

}  // namespace

TcpListener::TcpListener(std::shared_ptr<TcpStack> stack, const Endpoint& local,
                         std::unique_ptr<fabric::Listener> listener)
    : stack_(std::move(stack)), local_(local), listener_(std::move(listener)) {}

std::shared_ptr<TcpListener> TcpListener::listen(std::shared_ptr<TcpStack> stack,
                                                 const Endpoint& local, int backlog) {
  auto listening = stack->device().listen(local.port);
  if (!listening) return nullptr;
  auto listener = std::make_shared<TcpListener>(std::move(stack), local, std::move(*listening));
  listener->set_backlog(backlog);
  listener->fiber_ = listener->stack_->host().spawn({.name = "TCP listener", .daemon = true},
                                                    [listener] { listener->serve(); });
  return listener;
}

// Linux permits one more than the program asks for.
void TcpListener::set_backlog(int backlog) {
  backlog_ = static_cast<std::size_t>(std::clamp(backlog, 0, longest_backlog)) + 1;
  stack_->notify();
}

void TcpListener::serve() {
  for (;;) {
    stack_->wait_until([this] { return has_room(); }, fabric::never_ns);
    const std::unique_ptr<fabric::ConnectionRequest> request = listener_->accept(fabric::never_ns);
    if (request == nullptr) continue;
    if (auto connection = TcpConnection::accept(stack_, local_, *request)) {
      queue_.push_back(std::move(connection));
    }
  }
}

// Clients that have given up leave the backlog.
bool TcpListener::has_room() {
  std::erase_if(queue_, [](const auto& connection) {
    return connection->has_ended() && !connection->is_confirmed();
  });
  return queue_.size() < backlog_;
}

bool TcpListener::has_connections() const {
  return std::ranges::any_of(queue_,
                             [](const auto& connection) { return connection->is_confirmed(); });
}

std::shared_ptr<TcpConnection> TcpListener::accept(std::uint64_t deadline_ns) {
  const auto is_ready = [this] { return has_connections(); };
  if (!stack_->wait_until(is_ready, deadline_ns)) return nullptr;
  const auto oldest = std::ranges::find_if(
      queue_, [](const auto& connection) { return connection->is_confirmed(); });
  std::shared_ptr<TcpConnection> connection = std::move(*oldest);
  queue_.erase(oldest);
  stack_->notify();
  return connection;
}

// The port is free at once. The fiber leaves the fabric's listener by an exception, which does not
// touch it again.
void TcpListener::close() {
  abandon();
  listener_.reset();
  for (const auto& connection : std::exchange(queue_, {})) connection->reset();
  stack_->notify();
}

void TcpListener::abandon() { stack_->host().cancel(fiber_); }

}  // namespace falafel::simulated_verbs
