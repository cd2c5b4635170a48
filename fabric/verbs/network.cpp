#include "fabric/verbs/network.h"

#include <chrono>

#include "fabric/realtime/clock.h"
#include "fabric/verbs/completion_queue.h"

namespace falafel::verbs {
namespace {

// Limits the delay if an interrupt were lost, although no device is known to lose any.
constexpr std::uint64_t longest_sleep_ns = 1'000'000'000;

}  // namespace

bool Network::poll_awaited() {
  bool found = false;
  for (CompletionQueueState* queue : queues_) {
    if (queue->is_awaited()) found = queue->collect() || found;
  }
  return found;
}

void Network::on_port_error(const ibv_context& device, int port) const {
  for (const CompletionQueueState* queue : queues_) {
    if (queue->raw()->context == &device) queue->on_port_error(port);
  }
}

void Network::progress() {
  poll_awaited();
  if (++rounds_ % rounds_per_reactor_turn == 0) reactor_.poll();
}

// Requests interrupts first and polls the queues once more afterwards. Otherwise a completion that
// arrives in between would wake nobody.
void Network::idle_until(std::uint64_t deadline_ns) {
  for (CompletionQueueState* queue : queues_) {
    if (queue->is_awaited()) queue->ask_for_interrupt();
  }
  if (poll_awaited()) return;
  const std::uint64_t now_ns = fabric::monotonic_ns();
  if (deadline_ns <= now_ns) return;
  reactor_.restart();
  reactor_.run_one_for(std::chrono::nanoseconds(std::min(deadline_ns - now_ns, longest_sleep_ns)));
  reactor_.poll();
}

}  // namespace falafel::verbs
