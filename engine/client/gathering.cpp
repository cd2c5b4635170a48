#include "engine/client/gathering.h"

#include <algorithm>
#include <utility>

namespace falafel::engine {

ChainOutcome Gathering::post_together(std::span<const fabric::WorkRequest> chain,
                                      std::uint64_t& doorbells) {
  while (chain_ && requests_.size() + chain.size() > requester_.capacity()) post_for_others();
  make_room(chain.size());
  if (!chain_) {
    chain_ = requester_.open_chain(shared_from_this());
    ++doorbells;
  }
  const Requester::Part part{.chain = *chain_,
                             .begin = static_cast<std::uint32_t>(requests_.size()),
                             .end = static_cast<std::uint32_t>(requests_.size() + chain.size())};
  const Requester::Waiting waiting(requester_, part.chain);
  requests_.insert(requests_.end(), chain.begin(), chain.end());
  if (stop_running()) post();
  return requester_.wait_for(part);
}

// A chain that is open has requests, so there must be memory for them first.
void Gathering::make_room(std::size_t requests) {
  const std::size_t needed = requests_.size() + requests;
  if (needed <= requests_.capacity()) return;
  requests_.reserve(std::max(needed, 2 * requests_.capacity()));
}

void Gathering::leave() {
  if (stop_running()) post_for_others();
}

bool Gathering::stop_running() {
  FALAFEL_ASSERT(running_ > 0, "more fibers of a batch stop than were running");
  return --running_ == 0 && in_flight_ == 0;
}

void Gathering::post_for_others() {
  if (!chain_) return;
  const Requester::ChainIndex chain = *chain_;
  post();
  requester_.let_poll(chain);
}

// While this fiber waits for room, others may begin to collect the next chain.
void Gathering::post() {
  const Requester::ChainIndex chain = *std::exchange(chain_, std::nullopt);
  std::vector<fabric::WorkRequest> requests = std::exchange(requests_, {});
  ++in_flight_;
  requester_.post(chain, requests);
  if (requests_.capacity() > 0) return;
  requests.clear();
  requests_ = std::move(requests);
}

}  // namespace falafel::engine
