// A client's links to all servers. A fiber for each of them runs the tasks of that server one after
// the other, so a server that is slow, or gone, delays nobody but the tasks that it has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "fabric/fabric.h"
#include "stores/replicated/link.h"
#include "stores/replicated/options.h"

namespace falafel::replicated {

// The task at one server; returns whether the server answered. It may run after the operation has
// returned, so it owns what it uses.
using Task = std::function<bool(std::size_t server, Link& link)>;

class Replicas {
 public:
  static fabric::Result<std::unique_ptr<Replicas>> create(fabric::Host& host,
                                                          const std::vector<Member>& members,
                                                          const Options& options);
  ~Replicas();
  Replicas(const Replicas&) = delete;
  Replicas& operator=(const Replicas&) = delete;

  std::size_t servers() const;
  std::size_t majority() const;

  // Runs the task at all servers, and waits until a majority has answered (true), or none can any
  // more (false). The task goes on at the others.
  bool run_at_majority(const Task& task);
  bool run_at(std::size_t server, const Task& task);
  // Runs the task at all servers, without waiting.
  void run_later(const Task& task);

  // The number of times that this client has waited for servers.
  std::uint64_t round_trips() const { return round_trips_; }

 private:
  struct State;
  explicit Replicas(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
  std::uint64_t round_trips_ = 0;
};

}  // namespace falafel::replicated
