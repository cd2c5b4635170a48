#include "fabric/stream/network.h"

#include <algorithm>
#include <chrono>

#include "fabric/realtime/clock.h"

namespace falafel::stream {
namespace {

// The limit of one wait, because a deadline may never arrive.
constexpr std::uint64_t longest_sleep_ns = 1'000'000'000;

}  // namespace

// The reactor stops when it has no operations left.
void Network::progress() {
  reactor_.restart();
  reactor_.poll();
}

void Network::idle_until(std::uint64_t deadline_ns) {
  const std::uint64_t now_ns = fabric::monotonic_ns();
  if (deadline_ns <= now_ns) return;
  reactor_.restart();
  // Without operations, the reactor returns at once; a timer of a fiber may still be set.
  const auto work = boost::asio::make_work_guard(reactor_);
  reactor_.run_one_for(std::chrono::nanoseconds(std::min(deadline_ns - now_ns, longest_sleep_ns)));
}

}  // namespace falafel::stream
