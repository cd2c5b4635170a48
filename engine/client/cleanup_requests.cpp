#include "engine/client/cleanup_requests.h"

#include <utility>

namespace falafel::engine {

CleanupRequests::CleanupRequests(fabric::Host& host, std::uint64_t server_timeout_ns,
                                 std::function<void()> on_message)
    : host_(host),
      server_timeout_ns_(server_timeout_ns),
      on_message_(std::move(on_message)),
      changed_(host.create_event()) {}

std::optional<Answer> CleanupRequests::wait() {
  const std::uint64_t number = ++last_;
  const std::uint64_t deadline_ns = host_.now_ns() + server_timeout_ns_;
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

bool CleanupRequests::on_done() {
  if (asked_ == served_ || is_unsent_) return false;
  served_ = asked_;
  changed_->notify_all();
  return true;
}

void CleanupRequests::on_broken() {
  broken_ = true;
  changed_->notify_all();
}

std::optional<ControlMessage> CleanupRequests::take_message() {
  if (!std::exchange(is_unsent_, false)) return std::nullopt;
  return ControlMessage{.kind = MessageKind::request_cleanup};
}

}  // namespace falafel::engine
