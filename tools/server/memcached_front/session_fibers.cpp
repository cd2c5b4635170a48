#include "tools/server/memcached_front/session_fibers.h"

#include <algorithm>
#include <utility>

namespace falafel::memcached_front {
namespace {

// While all sessions wait for the store, the round looks at the sockets again and again: in every
// turn at first, because most waits are a round trip, and then after a pause that grows. A session
// that only lets others run does not wait: the round does not pause beside it.
constexpr std::uint32_t turns_without_pause = 256;
constexpr std::uint64_t shortest_pause_ns = 10'000;
constexpr std::uint64_t longest_pause_ns = 200'000;

}  // namespace

// Ends when none of its fibers is left.
class SessionFibers::Round {
 public:
  Round(SessionFibers& owner, fabric::Host& host, const std::function<bool()>& goes_on)
      : owner_(owner), host_(host), goes_on_(goes_on), session_ended_(host.create_event()) {}

  void run() {
    for (;;) {
      const bool has_started = start_sessions();
      if (running_ == 0) return;
      host_.yield();
      if (running_ == 0 && owner_.is_empty()) return;
      const bool has_received = owner_.context_.poll() > 0;
      if (has_started || has_received) {
        idle_turns_ = 0;
      } else {
        pause();
      }
    }
  }

 private:
  bool start_sessions() {
    bool has_started = false;
    while (running_ < owner_.most_ && !owner_.is_empty() && goes_on_()) {
      has_started = true;
      ++running_;
      host_.spawn({.name = "session"}, [this, session = owner_.take()] {
        session->answer(
            [this] {
              idle_turns_ = 0;
              host_.yield();
            },
            Responder::IfDisconnected::repeat);
        --running_;
        session_ended_->notify_all();
      });
    }
    return has_started;
  }

  void pause() {
    if (++idle_turns_ < turns_without_pause) return;
    const std::uint64_t pause_ns =
        std::min(longest_pause_ns, shortest_pause_ns * (idle_turns_ / turns_without_pause));
    session_ended_->wait(host_.now_ns() + pause_ns);
  }

  SessionFibers& owner_;
  fabric::Host& host_;
  const std::function<bool()>& goes_on_;
  std::unique_ptr<fabric::Event> session_ended_;
  std::uint32_t running_ = 0;
  std::uint32_t idle_turns_ = 0;
};

std::shared_ptr<Session> SessionFibers::take() {
  auto session = std::move(ready_.front());
  ready_.pop_front();
  return session;
}

void SessionFibers::run(fabric::Host& host, const std::function<bool()>& goes_on) {
  Round(*this, host, goes_on).run();
}

void SessionFibers::run_disconnected() {
  for (std::size_t left = ready_.size(); left > 0; --left) {
    take()->answer([] {}, Responder::IfDisconnected::answer);
  }
}

}  // namespace falafel::memcached_front
