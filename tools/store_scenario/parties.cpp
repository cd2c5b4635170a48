#include "tools/store_scenario/parties.h"

#include <fmt/format.h>

namespace falafel::store_scenario {

namespace {

// a request of the server; no fiber is known yet
constexpr std::uint32_t servers_own = ~std::uint32_t{0};

}  // namespace

void Parties::introduce(const sim::Subject& subject) {
  if (subject.kind != sim::SubjectKind::queue_pair) return;
  if (subject.host == hostile_host) hostile_.insert(subject.number);
  if (subject.number >= party_of_queue_pair_.size()) {
    party_of_queue_pair_.resize(subject.number + 1, servers_own);
  }
  party_of_queue_pair_[subject.number] = subject.host == "server" ? servers_own : subject.number;
}

void Parties::on_posted(std::uint32_t queue_pair, fabric::FiberId fiber) {
  std::uint32_t& party = party_of_queue_pair_[queue_pair];
  if ((party & fiber_bit) != 0) party = of_fiber(fiber);
}

std::uint32_t Parties::of_queue_pair(std::uint32_t queue_pair) const {
  return party_of_queue_pair_[queue_pair];
}

bool Parties::is_hostile(std::uint32_t queue_pair) const { return hostile_.contains(queue_pair); }

std::string Parties::name(std::uint32_t party) {
  return (party & fiber_bit) != 0 ? fmt::format("the server's fiber {}", party & ~fiber_bit)
                                  : fmt::format("a client (queue pair {})", party);
}

}  // namespace falafel::store_scenario
