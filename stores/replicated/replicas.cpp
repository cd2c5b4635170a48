#include "stores/replicated/replicas.h"

#include <numeric>
#include <utility>

namespace falafel::replicated {

Replicas::Replicas(fabric::Host& host, std::vector<std::unique_ptr<Link>> links,
                   const Options& options)
    : options_(options), all_servers_(links.size()), links_(host, std::move(links)) {
  std::iota(all_servers_.begin(), all_servers_.end(), 0);
}

fabric::Result<std::unique_ptr<Replicas>> Replicas::create(
    fabric::Host& host, const std::vector<stores::Member>& members, const Options& options) {
  std::vector<std::unique_ptr<Link>> links;
  for (const stores::Member& member : members) {
    auto link = Link::create(host, member, options);
    if (!link) return tl::unexpected(link.error());
    links.push_back(std::move(*link));
  }
  return std::unique_ptr<Replicas>(new Replicas(host, std::move(links), options));
}

std::size_t Replicas::majority() const {
  return options_.safeguards.majorities ? servers() / 2 + 1 : 1;
}

bool Replicas::run_at_majority(const Task& task) {
  ++round_trips_;
  return links_.run(all_servers_, servers(), majority(), task).is_sufficient;
}

bool Replicas::run_at(std::size_t server, const Task& task) {
  ++round_trips_;
  return links_.run_at(server, task);
}

void Replicas::run_later(const Task& task) { links_.start_at(all_servers_, task); }

}  // namespace falafel::replicated
