#include "simulated_verbs/connection_manager/conversation.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include "fabric/time_units.h"

namespace falafel::simulated_verbs {

namespace {

// Linux sends a request 16 times (CMA_MAX_CM_RETRIES). A manager that has received it asks for 69
// seconds until each further one (CMA_CM_MRA_SETTING), 18 minutes in all. Many short waits are used
// up only if there is no answer, because the simulator may end each wait early.
constexpr int most_requests = 16;
constexpr int waits_for_answer = 128;
constexpr std::uint64_t wait_for_answer_ns =
    most_requests * 69 * fabric::second_ns / waits_for_answer;
// Hosts of a run start in any order, whereas users start the server first. So at the beginning,
// requests for which nobody listens are sent again for a minute, and not less often than this,
// because the simulator may delay an answer beyond that minute.
constexpr int least_refusals_at_start = 20;
constexpr std::uint64_t first_pause_ns = 10 * fabric::microsecond_ns;
constexpr std::uint64_t longest_pause_ns = 4 * fabric::second_ns;
// Twice the longest life of a packet.
constexpr std::uint64_t time_wait_ns = 134 * fabric::millisecond_ns;

}  // namespace

Conversation::Conversation(std::weak_ptr<ConversationOwner> owner, std::shared_ptr<TcpStack> stack,
                           const Endpoint& local, const Endpoint& remote)
    : owner_(std::move(owner)),
      stack_(std::move(stack)),
      local_(local),
      remote_(remote),
      pause_ns_(first_pause_ns) {}

std::shared_ptr<Conversation> Conversation::request(std::weak_ptr<ConversationOwner> owner,
                                                    std::shared_ptr<TcpStack> stack,
                                                    const Endpoint& local, const Endpoint& remote,
                                                    const Message& message) {
  auto conversation =
      std::make_shared<Conversation>(std::move(owner), std::move(stack), local, remote);
  conversation->request_ = message;
  conversation->start("connection request", &Conversation::send_request);
  return conversation;
}

std::shared_ptr<Conversation> Conversation::answer(std::weak_ptr<ConversationOwner> owner,
                                                   std::shared_ptr<TcpStack> stack,
                                                   std::shared_ptr<TcpConnection> connection) {
  auto conversation = std::make_shared<Conversation>(std::move(owner), std::move(stack),
                                                     connection->local(), connection->remote());
  conversation->connection_ = std::move(connection);
  conversation->start("connection answer", &Conversation::serve);
  return conversation;
}

void Conversation::start(const char* name, void (Conversation::*body)()) {
  fiber_ = stack_->host().spawn({.name = name, .daemon = true},
                                [self = shared_from_this(), body] { (self.get()->*body)(); });
}

bool Conversation::send(const Message& message) {
  if (connection_ == nullptr) return false;
  const std::shared_ptr<TcpConnection> connection = connection_;
  return connection->send(std::as_bytes(std::span(&message, 1)), fabric::never_ns) > 0;
}

Conversation::Received Conversation::receive(Message& message, std::uint64_t deadline_ns) {
  const std::shared_ptr<TcpConnection> connection = connection_;
  const SystemResult received =
      connection->receive(std::as_writable_bytes(std::span(&message, 1)), MSG_WAITALL, deadline_ns);
  if (received == static_cast<SystemResult>(sizeof message)) return Received::message;
  if (received == -EAGAIN) return Received::nothing;
  return received == 0 ? Received::end : Received::failure;
}

void Conversation::send_request() {
  is_starting_ = stack_->is_starting();
  for (int tries = 0; tries < most_requests + refusals_; ++tries) {
    if (ask_once() || is_closed_) return;
    wait_before_next_try();
  }
  hear_silence();
}

bool Conversation::ask_once() {
  connection_ =
      TcpConnection::connect(stack_, local_, {.address = remote_.address, .port = service});
  const std::shared_ptr<TcpConnection> connection = connection_;
  stack_->wait_until([&connection] { return !connection->is_connecting(); }, fabric::never_ns);
  if (is_closed_) return true;
  if (!connection->was_established()) return give_up_after(connection->take_error());
  send(request_);
  Message answer;
  Received received = Received::nothing;
  for (int waits = 0; received == Received::nothing && waits < waits_for_answer; ++waits) {
    received = receive(answer, stack_->host().now_ns() + wait_for_answer_ns);
  }
  if (received == Received::nothing) hear_silence();
  if (received != Received::message) return is_closed_ || received == Received::nothing;
  const bool nobody_listens =
      (answer.kind == Message::reject && answer.reason == rejection::invalid_service) ||
      (answer.kind == Message::datagram_reply && answer.reason == rejection::datagrams_unsupported);
  const bool is_early = stack_->is_starting() || refusals_ < least_refusals_at_start;
  if (nobody_listens && is_starting_ && is_early) {
    ++refusals_;
    return false;
  }
  hear(answer);
  serve();
  return true;
}

// TCP has tried long enough. Returns false if another try may help.
bool Conversation::give_up_after(int error) {
  const bool has_datagrams = request_.kind == Message::datagram_request;
  switch (error) {
    case ECONNREFUSED:
      hear({.kind = has_datagrams ? Message::datagram_reply : Message::reject,
            .reason =
                has_datagrams ? rejection::datagrams_unsupported : rejection::invalid_service});
      return true;
    case ETIMEDOUT: hear_silence(); return true;
    default: return false;
  }
}

void Conversation::wait_before_next_try() {
  if (connection_ != nullptr) connection_->close();
  stack_->host().sleep_until(stack_->host().now_ns() + pause_ns_);
  pause_ns_ = std::min(2 * pause_ns_, longest_pause_ns);
}

void Conversation::serve() {
  Message message;
  Received received = Received::message;
  while (!is_closed_ && !is_in_time_wait_ && received == Received::message) {
    received = receive(message, fabric::never_ns);
    if (received == Received::message) hear(message);
  }
  if (!is_in_time_wait_) hear_silence(received == Received::end);
  connection_->close();
  if (is_closed_ || !is_in_time_wait_) return;
  stack_->host().sleep_until(stack_->host().now_ns() + time_wait_ns);
  const std::shared_ptr<ConversationOwner> owner = owner_.lock();
  if (owner != nullptr && !is_closed_) owner->hear_end_of_time_wait(*this);
}

void Conversation::hear(const Message& message) {
  const std::shared_ptr<ConversationOwner> owner = owner_.lock();
  if (owner == nullptr || is_closed_) return;
  owner->hear(*this, message);
}

void Conversation::hear_silence(bool peer_has_said_so) {
  const std::shared_ptr<ConversationOwner> owner = owner_.lock();
  if (owner == nullptr || is_closed_) return;
  owner->hear_silence(*this, peer_has_said_so);
}

void Conversation::start_time_wait() {
  is_in_time_wait_ = true;
  stack_->notify();
}

void Conversation::close() {
  identifier = nullptr;
  is_closed_ = true;
  if (connection_ != nullptr) {
    // TCP would reset the connection if some messages were not read.
    Message unread;
    while (connection_->arrived_bytes() > 0 && receive(unread, 0) == Received::message) {
    }
    connection_->close();
  }
  stack_->notify();
}

void Conversation::abandon() {
  identifier = nullptr;
  is_closed_ = true;
  if (connection_ != nullptr) connection_->abandon();
  stack_->host().cancel(fiber_);
}

}  // namespace falafel::simulated_verbs
