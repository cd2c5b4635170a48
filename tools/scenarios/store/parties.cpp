#include "tools/scenarios/store/parties.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

namespace falafel::store_scenario {

namespace {

// a request of the server; no fiber is known yet
constexpr std::uint32_t servers_own = ~std::uint32_t{0};

// The hosts of clients are named "client 0", "client 1" and so on.
std::optional<std::uint32_t> number_of_client(std::string_view host) {
  constexpr std::string_view prefix = "client ";
  std::uint32_t number = 0;
  if (!host.starts_with(prefix)) return std::nullopt;
  std::from_chars(host.data() + prefix.size(), host.data() + host.size(), number);
  return number;
}

}  // namespace

bool Parties::is_client_host(std::string_view host) { return number_of_client(host).has_value(); }

void Parties::introduce(const sim::Subject& subject) {
  if (subject.kind != sim::SubjectKind::queue_pair) return;
  if (subject.host == hostile_host) hostile_.insert(subject.number);
  if (subject.number >= party_of_queue_pair_.size()) {
    party_of_queue_pair_.resize(subject.number + 1, servers_own);
  }
  const auto client = number_of_client(subject.host);
  const bool is_servers_own = !client && !is_hostile(subject.number);
  party_of_queue_pair_[subject.number] = is_servers_own ? servers_own : subject.number;
  if (!client) return;
  if (*client >= newest_of_client_.size()) newest_of_client_.resize(*client + 1);
  newest_of_client_[*client] = subject.number;
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
