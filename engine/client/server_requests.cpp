#include "engine/client/server_requests.h"

#include <utility>

namespace falafel::engine {

ServerRequests::ServerRequests(fabric::Host& host, MessageKind kind,
                               std::function<void()> on_message)
    : host_(host), kind_(kind), on_message_(std::move(on_message)), changed_(host.create_event()) {}

std::optional<Answer> ServerRequests::wait(std::uint64_t timeout_ns) {
  const std::uint64_t number = ++last_;
  const std::uint64_t deadline_ns = host_.now_ns() + timeout_ns;
  while (served_ < number) {
    if (broken_) return Answer::disconnected;
    if (host_.now_ns() >= deadline_ns) return Answer::timed_out;
    if (asked_ == served_) {
      asked_ = last_;
      is_unsent_ = true;
      on_message_();
    }
    changed_->wait(deadline_ns);
  }
  return std::nullopt;
}

bool ServerRequests::on_done() {
  if (asked_ == served_ || is_unsent_) return false;
  served_ = asked_;
  changed_->notify_all();
  return true;
}

void ServerRequests::on_broken() {
  broken_ = true;
  changed_->notify_all();
}

std::optional<ControlMessage> ServerRequests::take_message() {
  if (!std::exchange(is_unsent_, false)) return std::nullopt;
  return ControlMessage{.kind = kind_};
}

}  // namespace falafel::engine
