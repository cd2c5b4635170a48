#include "engine/server/loopback.h"

#include "engine/layout/control_message.h"

namespace falafel::engine {
namespace {

constexpr std::uint64_t retry_ns = 100'000;
constexpr std::uint64_t patience_ns = 1'000'000'000;

}  // namespace

LoopbackConnector::LoopbackConnector(fabric::Host& host, fabric::ProtectionDomain& domain,
                                     const ServerOptions& options)
    : host_(host),
      domain_(domain),
      options_(options),
      secret_(host.random(0) | 1),
      accepted_event_(host.create_event()) {}

LoopbackEnd LoopbackConnector::make_end() const {
  auto completions = host_.device(0).create_completion_queue(options_.pipelined_updates + 1);
  FALAFEL_ASSERT(completions.has_value(), "{}", completions.error().detail);
  return {.completions = std::move(*completions), .queue_pair = nullptr};
}

fabric::QueuePairOptions LoopbackConnector::queue_pair_options(const LoopbackEnd& end) const {
  return {.protection_domain = &domain_,
          .send_completions = end.completions.get(),
          .receive_completions = end.completions.get(),
          .max_send_requests = options_.pipelined_updates,
          .max_receive_requests = 1,
          .acknowledge_timeout_ns = options_.acknowledge_timeout_ns,
          .retry_count = options_.retry_count};
}

LoopbackPair LoopbackConnector::connect() {
  while (connecting_) accepted_event_->wait(fabric::never_ns);
  connecting_ = true;
  struct AtEnd {
    LoopbackConnector& connector;
    ~AtEnd() {
      connector.connecting_ = false;
      connector.accepted_event_->notify_all();
    }
  } const at_end{*this};
  LoopbackPair pair;
  while (pair.near.queue_pair == nullptr) {
    accepted_.clear();
    LoopbackEnd near = make_end();
    auto connection = host_.device(0).connect(
        {.host = host_.name(), .service = options_.service}, queue_pair_options(near),
        to_bytes(ClientHello{.loopback_secret = secret_}), host_.now_ns() + patience_ns);
    if (!connection) {
      host_.sleep_until(host_.now_ns() + retry_ns);
      continue;
    }
    while (accepted_.empty()) accepted_event_->wait(fabric::never_ns);
    near.queue_pair = std::move(connection->queue_pair);
    pair = {.near = std::move(near), .far = std::move(accepted_.back())};
  }
  return pair;
}

void LoopbackConnector::accept(fabric::ConnectionRequest& request) {
  LoopbackEnd far = make_end();
  auto queue_pair = request.accept(queue_pair_options(far), {});
  if (!queue_pair) return;
  far.queue_pair = std::move(*queue_pair);
  accepted_.push_back(std::move(far));
  accepted_event_->notify_all();
}

}  // namespace falafel::engine
