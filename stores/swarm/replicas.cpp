#include "stores/swarm/replicas.h"

#include <span>
#include <utility>

namespace falafel::swarm {

Replicas::Replicas(fabric::Host& host, std::vector<std::unique_ptr<Link>> links,
                   const Options& options)
    : options_(options), links_(host, std::move(links)) {}

fabric::Result<std::unique_ptr<Replicas>> Replicas::create(
    fabric::Host& host, std::uint32_t writer, const std::vector<stores::Member>& members,
    const Options& options) {
  std::vector<std::unique_ptr<Link>> links;
  for (const stores::Member& member : members) {
    auto link = Link::create(host, member, writer, options);
    if (!link) return tl::unexpected(link.error());
    links.push_back(std::move(*link));
  }
  return std::unique_ptr<Replicas>(new Replicas(host, std::move(links), options));
}

std::size_t Replicas::nodes() const {
  return links_.size() - (options_.safeguards.own_index_node ? 1 : 0);
}

std::size_t Replicas::majority() const {
  return options_.safeguards.majorities ? nodes() / 2 + 1 : 1;
}

std::size_t Replicas::asked_at_once() const {
  return options_.contacts == Contacts::all ? nodes() : majority();
}

std::vector<std::size_t> Replicas::order(std::size_t first) const {
  std::vector<std::size_t> order;
  for (const bool has_failed : {false, true}) {
    for (std::size_t number = 0; number < nodes(); ++number) {
      const std::size_t node = (first + number) % nodes();
      if (links_.has_failed(node) == has_failed) order.push_back(node);
    }
  }
  return order;
}

bool Replicas::run_at_majority(std::size_t first, const Task& task) {
  ++round_trips_;
  const auto outcome = links_.run(order(first), asked_at_once(), majority(), task);
  asked_ = outcome.asked;
  return outcome.is_sufficient;
}

bool Replicas::run_at(std::size_t member, const Task& task) {
  ++round_trips_;
  return links_.run_at(member, task);
}

void Replicas::run_later(std::size_t first, const Task& task) {
  const std::vector<std::size_t> members = order(first);
  links_.start_at(std::span(members).first(asked_at_once()), task);
}

}  // namespace falafel::swarm
