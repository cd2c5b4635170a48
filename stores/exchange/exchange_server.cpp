#include "stores/exchange/exchange_server.h"

#include <utility>

#include "fabric/cooperative_cancellation.h"
#include "stores/accept_connections.h"

namespace falafel::stores {

fabric::Result<void> ExchangeServer::listen(std::uint16_t service) {
  fabric::Device& device = host_.device(0);
  auto completions =
      device.create_completion_queue(options_.max_clients * options_.completions_per_client());
  if (!completions) return tl::unexpected(completions.error());
  completions_ = std::move(*completions);
  auto listener = device.listen(service);
  if (!listener) return tl::unexpected(listener.error());
  listener_ = std::move(*listener);
  ends_.emplace(host_, *domain_, *completions_, options_);
  return {};
}

void ExchangeServer::start(std::shared_ptr<ExchangeService> service, const char* serving_fiber,
                           std::uint32_t serving_fibers) {
  serving_fibers_ = serving_fibers;
  fibers_.push_back(host_.spawn({.name = "accept", .daemon = true}, [this, service] {
    accept_connections(host_, *listener_,
                       [&](fabric::ConnectionRequest& request) { service->admit(request); });
  }));
  for (std::uint32_t fiber = 0; fiber < serving_fibers; ++fiber) {
    fibers_.push_back(host_.spawn({.name = serving_fiber, .daemon = true},
                                  [this, service] { serve_all(*service); }));
  }
}

void ExchangeServer::stop() {
  for (const fabric::FiberId fiber : fibers_) host_.cancel(fiber);
  fibers_.clear();
}

// The server waits for a completion with nothing in progress, so its fiber may end here.
void ExchangeServer::wait_for_completion() {
  const fabric::CooperativeCancellation cooperative(host_);
  completions_->wait(fabric::never_ns);
}

void ExchangeServer::serve(ExchangeService& service) {
  std::optional<ServerEnds::Arrival> arrival;
  ends_->poll(arrival);
  if (arrival && !service.serve(*arrival)) ends_->refuse(*arrival);
}

void ExchangeServer::serve_all(ExchangeService& service) {
  while (true) {
    wait_for_completion();
    if (host_.is_cancelled()) return;
    FALAFEL_ASSERT(busy_fibers_ < serving_fibers_, "a fiber serves one request at a time");
    ++busy_fibers_;
    const std::uint64_t begin_ns = host_.now_ns();
    serve(service);
    busy_ns_ += host_.now_ns() - begin_ns;
    --busy_fibers_;
  }
}

}  // namespace falafel::stores
