#include "stores/replicated/replicas.h"

#include <algorithm>
#include <utility>

#include "fabric/cooperative_cancellation.h"

namespace falafel::replicated {

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
  };

  State(fabric::Host& own_host, const Options& own_options)
      : host(own_host), options(own_options), has_progress(own_host.create_event()) {}

  void work(std::size_t server);
  void add(std::size_t server, const Task& task, const std::shared_ptr<Round>& round);

  fabric::Host& host;
  Options options;
  std::vector<Replica> replicas;
  std::unique_ptr<fabric::Event> has_progress;
};

void Replicas::State::work(std::size_t server) {
  Replica& replica = replicas[server];
  while (!host.is_cancelled()) {
    if (replica.jobs.empty()) {
      const fabric::CooperativeCancellation cooperative(host);
      replica.has_jobs->wait(fabric::never_ns);
      continue;
    }
    const Job job = std::move(replica.jobs.front());
    replica.jobs.pop_front();
    const bool has_answered = job.task(server, *replica.link);
    ++(has_answered ? job.round->answered : job.round->failed);
    has_progress->notify_all();
  }
}

void Replicas::State::add(std::size_t server, const Task& task,
                          const std::shared_ptr<Round>& round) {
  replicas[server].jobs.push_back({.task = task, .round = round});
  replicas[server].has_jobs->notify_all();
}

fabric::Result<std::unique_ptr<Replicas>> Replicas::create(fabric::Host& host,
                                                           const std::vector<Member>& members,
                                                           const Options& options) {
  auto state = std::make_shared<State>(host, options);
  for (const Member& member : members) {
    auto link = Link::create(host, member, options);
    if (!link) return tl::unexpected(link.error());
    State::Replica& replica = state->replicas.emplace_back();
    replica.link = std::move(*link);
    replica.has_jobs = host.create_event();
  }
  for (std::size_t server = 0; server < members.size(); ++server) {
    state->replicas[server].fiber =
        host.spawn({.name = "link " + std::to_string(server), .daemon = true},
                   [state, server] { state->work(server); });
  }
  return std::unique_ptr<Replicas>(new Replicas(std::move(state)));
}

Replicas::~Replicas() {
  for (const State::Replica& replica : state_->replicas) state_->host.cancel(replica.fiber);
}

std::size_t Replicas::servers() const { return state_->replicas.size(); }

std::size_t Replicas::majority() const {
  return state_->options.safeguards.majorities ? servers() / 2 + 1 : 1;
}

bool Replicas::run_at_majority(const Task& task) {
  ++round_trips_;
  const auto round = std::make_shared<State::Round>();
  for (std::size_t server = 0; server < servers(); ++server) state_->add(server, task, round);
  while (round->answered < majority() && servers() - round->failed >= majority()) {
    state_->has_progress->wait(fabric::never_ns);
  }
  return round->answered >= majority();
}

bool Replicas::run_at(std::size_t server, const Task& task) {
  ++round_trips_;
  const auto round = std::make_shared<State::Round>();
  state_->add(server, task, round);
  while (round->answered + round->failed == 0) state_->has_progress->wait(fabric::never_ns);
  return round->answered == 1;
}

void Replicas::run_later(const Task& task) {
  const auto round = std::make_shared<State::Round>();
  for (std::size_t server = 0; server < servers(); ++server) state_->add(server, task, round);
}

}  // namespace falafel::replicated
