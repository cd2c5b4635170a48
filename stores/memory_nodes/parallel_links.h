// A client's links to several nodes. A fiber for each link runs its tasks one after the other, so a
// node that is slow, or gone, delays nobody but the tasks that it has.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fabric/cooperative_cancellation.h"
#include "fabric/fabric.h"

namespace falafel::stores {

template <typename Link>
class ParallelLinks {
 public:
  // Returns whether the node answered. It may run after the operation has returned, so it owns what
  // it uses.
  using Task = std::function<bool(std::size_t member, Link& link)>;

  ParallelLinks(fabric::Host& host, std::vector<std::unique_ptr<Link>> links);
  ~ParallelLinks();
  ParallelLinks(const ParallelLinks&) = delete;
  ParallelLinks& operator=(const ParallelLinks&) = delete;

  struct Outcome {
    bool is_sufficient = false;
    std::size_t asked = 0;  // members that have got the task
  };
  // Gives the task to the first `at_once` members of the order, and to another one for each that
  // fails, until `needed` have answered, or the rest is too few. The task goes on at members that
  // have not answered.
  Outcome run(std::span<const std::size_t> order, std::size_t at_once, std::size_t needed,
              const Task& task);
  // Waits for one member.
  bool run_at(std::size_t member, const Task& task);
  // Does not wait.
  void start_at(std::span<const std::size_t> members, const Task& task);

  std::size_t size() const { return state_->members.size(); }
  // Its last task.
  bool has_failed(std::size_t member) const { return state_->members[member].has_failed; }

 private:
  struct Round {
    std::size_t answered = 0;
    std::size_t failed = 0;
  };
  struct Job {
    Task task;
    std::shared_ptr<Round> round;
  };
  struct Member {
    std::unique_ptr<Link> link;
    std::unique_ptr<fabric::Event> has_jobs;
    std::deque<Job> jobs{};
    fabric::FiberId fiber = 0;
    bool has_failed = false;
  };
  struct State {
    explicit State(fabric::Host& own_host) : host(own_host), has_progress(host.create_event()) {}
    void work(std::size_t number);
    void add(std::size_t member, const Task& task, const std::shared_ptr<Round>& round);

    fabric::Host& host;
    std::unique_ptr<fabric::Event> has_progress;
    std::vector<Member> members;
  };

  std::shared_ptr<State> state_;
};

template <typename Link>
ParallelLinks<Link>::ParallelLinks(fabric::Host& host, std::vector<std::unique_ptr<Link>> links)
    : state_(std::make_shared<State>(host)) {
  for (auto& link : links) {
    state_->members.push_back({.link = std::move(link), .has_jobs = host.create_event()});
  }
  for (std::size_t member = 0; member < size(); ++member) {
    state_->members[member].fiber =
        host.spawn({.name = "link " + std::to_string(member), .daemon = true},
                   [state = state_, member] { state->work(member); });
  }
}

template <typename Link>
ParallelLinks<Link>::~ParallelLinks() {
  for (const Member& member : state_->members) state_->host.cancel(member.fiber);
}

template <typename Link>
void ParallelLinks<Link>::State::work(std::size_t number) {
  Member& member = members[number];
  while (!host.is_cancelled()) {
    if (member.jobs.empty()) {
      const fabric::CooperativeCancellation cooperative(host);
      member.has_jobs->wait(fabric::never_ns);
      continue;
    }
    const Job job = std::move(member.jobs.front());
    member.jobs.pop_front();
    const bool has_answered = job.task(number, *member.link);
    member.has_failed = !has_answered;
    ++(has_answered ? job.round->answered : job.round->failed);
    has_progress->notify_all();
  }
}

template <typename Link>
void ParallelLinks<Link>::State::add(std::size_t member, const Task& task,
                                     const std::shared_ptr<Round>& round) {
  members[member].jobs.push_back({.task = task, .round = round});
  members[member].has_jobs->notify_all();
}

template <typename Link>
auto ParallelLinks<Link>::run(std::span<const std::size_t> order, std::size_t at_once,
                              std::size_t needed, const Task& task) -> Outcome {
  const auto round = std::make_shared<Round>();
  std::size_t asked = 0;
  while (round->answered < needed && order.size() - round->failed >= needed) {
    while (asked < order.size() && asked < at_once + round->failed) {
      state_->add(order[asked++], task, round);
    }
    state_->has_progress->wait(fabric::never_ns);
  }
  return {.is_sufficient = round->answered >= needed, .asked = asked};
}

template <typename Link>
bool ParallelLinks<Link>::run_at(std::size_t member, const Task& task) {
  return run(std::span(&member, 1), 1, 1, task).is_sufficient;
}

template <typename Link>
void ParallelLinks<Link>::start_at(std::span<const std::size_t> members, const Task& task) {
  const auto round = std::make_shared<Round>();
  for (const std::size_t member : members) state_->add(member, task, round);
}

}  // namespace falafel::stores
