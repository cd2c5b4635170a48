#include "stores/swarm/replicas.h"

#include <deque>
#include <string>
#include <utility>

#include "fabric/cooperative_cancellation.h"

namespace falafel::swarm {

struct Replicas::State {
  struct Round {
    std::size_t answered = 0;
    std::size_t failed = 0;
  };
  struct Job {
    Task task;
    std::shared_ptr<Round> round;
  };
  struct Replica {
    std::unique_ptr<Link> link;
    std::deque<Job> jobs;
    std::unique_ptr<fabric::Event> has_jobs;
    fabric::FiberId fiber = 0;
    bool has_failed = false;  // its last task
  };

  State(fabric::Host& own_host, const Options& own_options)
      : host(own_host), options(own_options), has_progress(own_host.create_event()) {}

  void work(std::size_t member);
  std::vector<std::size_t> order(std::size_t first) const;
  void add(std::size_t member, const Task& task, const std::shared_ptr<Round>& round);
  std::size_t nodes() const {
    return replicas.size() - (options.safeguards.own_index_node ? 1 : 0);
  }

  fabric::Host& host;
  Options options;
  std::vector<Replica> replicas;
  std::unique_ptr<fabric::Event> has_progress;
};

void Replicas::State::work(std::size_t member) {
  Replica& replica = replicas[member];
  while (!host.is_cancelled()) {
    if (replica.jobs.empty()) {
      const fabric::CooperativeCancellation cooperative(host);
      replica.has_jobs->wait(fabric::never_ns);
      continue;
    }
    const Job job = std::move(replica.jobs.front());
    replica.jobs.pop_front();
    const bool has_answered = job.task(member, *replica.link);
    replica.has_failed = !has_answered;
    ++(has_answered ? job.round->answered : job.round->failed);
    has_progress->notify_all();
  }
}

// Nodes that did not answer the last time come last.
std::vector<std::size_t> Replicas::State::order(std::size_t first) const {
  std::vector<std::size_t> order;
  for (const bool has_failed : {false, true}) {
    for (std::size_t number = 0; number < nodes(); ++number) {
      const std::size_t node = (first + number) % nodes();
      if (replicas[node].has_failed == has_failed) order.push_back(node);
    }
  }
  return order;
}

void Replicas::State::add(std::size_t member, const Task& task,
                          const std::shared_ptr<Round>& round) {
  replicas[member].jobs.push_back({.task = task, .round = round});
  replicas[member].has_jobs->notify_all();
}

fabric::Result<std::unique_ptr<Replicas>> Replicas::create(fabric::Host& host, std::uint32_t writer,
                                                           const std::vector<Member>& members,
                                                           const Options& options) {
  auto state = std::make_shared<State>(host, options);
  for (const Member& member : members) {
    auto link = Link::create(host, member, writer, options);
    if (!link) return tl::unexpected(link.error());
    State::Replica& replica = state->replicas.emplace_back();
    replica.link = std::move(*link);
    replica.has_jobs = host.create_event();
  }
  for (std::size_t member = 0; member < members.size(); ++member) {
    state->replicas[member].fiber =
        host.spawn({.name = "link " + std::to_string(member), .daemon = true},
                   [state, member] { state->work(member); });
  }
  return std::unique_ptr<Replicas>(new Replicas(std::move(state)));
}

Replicas::~Replicas() {
  for (const State::Replica& replica : state_->replicas) state_->host.cancel(replica.fiber);
}

std::size_t Replicas::nodes() const { return state_->nodes(); }

std::size_t Replicas::majority() const {
  return state_->options.safeguards.majorities ? nodes() / 2 + 1 : 1;
}

bool Replicas::run_at_majority(std::size_t first, const Task& task) {
  ++round_trips_;
  const auto round = std::make_shared<State::Round>();
  const std::size_t at_once = state_->options.contacts == Contacts::all ? nodes() : majority();
  const std::vector<std::size_t> order = state_->order(first);
  asked_ = 0;
  while (round->answered < majority() && nodes() - round->failed >= majority()) {
    while (asked_ < nodes() && asked_ < at_once + round->failed) {
      state_->add(order[asked_++], task, round);
    }
    state_->has_progress->wait(fabric::never_ns);
  }
  return round->answered >= majority();
}

bool Replicas::run_at(std::size_t member, const Task& task) {
  ++round_trips_;
  const auto round = std::make_shared<State::Round>();
  state_->add(member, task, round);
  while (round->answered + round->failed == 0) state_->has_progress->wait(fabric::never_ns);
  return round->answered == 1;
}

void Replicas::run_later(std::size_t first, const Task& task) {
  const auto round = std::make_shared<State::Round>();
  const std::size_t asked = state_->options.contacts == Contacts::all ? nodes() : majority();
  const std::vector<std::size_t> order = state_->order(first);
  for (std::size_t number = 0; number < asked; ++number) state_->add(order[number], task, round);
}

}  // namespace falafel::swarm
