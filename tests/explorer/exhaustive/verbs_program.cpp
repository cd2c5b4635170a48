#include "tests/explorer/exhaustive/verbs_program.h"

#include <algorithm>
#include <array>
#include <utility>

#include "explorer/exhaustive/search_strategy.h"
#include "fabric/random.h"
#include "tests/litmus/party.h"
#include "tests/litmus/words.h"

namespace falafel::explorer {
namespace {

using litmus::Party;
using litmus::Trial;

constexpr std::uint64_t words = 2;
constexpr std::uint64_t first_receive_word = 4;
constexpr std::uint32_t most_shared_receives = 8;
constexpr std::uint64_t stall_ns = 1'500;  // between two sleeps
constexpr std::uint64_t sleep_ns = 1'000;  // later with each call

sim::SimulationOptions options_of(const VerbsProgram& program) {
  sim::SimulationOptions options;
  options.atomic_capability = program.atomic_capability;
  options.fibers_take_turns = program.fibers_take_turns;
  options.step_limit = 10'000;
  options.longest_stall_ns = stall_ns;
  for (const sim::FaultKind kind : program.faults) options.set_fault_rate(kind, 1);
  return options_for_exploration(options, program.max_faults).value();
}

fabric::WorkRequest request_of(Party& client, const VerbCall& call, std::uint64_t value) {
  switch (call.verb) {
    case Verb::read: return client.read(call.word);
    case Verb::write: return client.write(call.word, {value});
    case Verb::compare_and_swap: return client.compare_and_swap(call.word, 0, value);
    case Verb::send: return client.send({value});
    case Verb::fetch_and_add:
    case Verb::post_receive:
    case Verb::await_message: break;
  }
  return client.fetch_and_add(call.word, value);
}

// Each client and each call has values of its own.
std::uint64_t value_of(std::size_t party, std::size_t call) { return 10 * (party + 1) + call; }

using Seen = std::vector<std::vector<std::uint64_t>>;  // by party

void sleep_before(Party& party, std::size_t call) {
  party.host().sleep_until(litmus::programs_start_ns + (call + 1) * sleep_ns);
}

litmus::Program client_program(const VerbsProgram& program, std::size_t party, Seen& seen) {
  const std::vector<VerbCall>& calls = program.clients[party - 1];
  const bool sees_status = program.max_faults > 0;
  return [&calls, &seen, party, sees_status](Party& client) {
    std::vector<fabric::WorkRequest> chain;
    for (std::size_t index = 0; index < calls.size(); ++index) {
      if (calls[index].is_late) sleep_before(client, index);
      chain.push_back(request_of(client, calls[index], value_of(party, index)));
      if (calls[index].is_chained && index + 1 < calls.size()) continue;
      litmus::must(client.try_post(chain));
      client.finish();
      for (const fabric::WorkRequest& request : chain) {
        if (sees_status) {
          seen[party].push_back(static_cast<std::uint64_t>(client.status(request)));
        }
        const bool has_result =
            request.opcode != fabric::Opcode::write && request.opcode != fabric::Opcode::send;
        if (has_result) {
          seen[party].push_back(client.result(request));
        }
      }
      chain.clear();
    }
  };
}

// The receive requests that the server posted so far use a word each.
void post_receive(Party& server, std::uint64_t queue_pair, std::uint64_t posted_before) {
  const std::uint64_t word = first_receive_word + posted_before;
  if (server.trial().stage().shared_receive_requests > 0) {
    server.post_shared_receive(word);
  } else {
    server.post_receive(word, 1, queue_pair);
  }
}

void await_message(Party& server, std::vector<std::uint64_t>& seen) {
  const auto message = server.await_message().value();
  seen.push_back(message.queue_pair_number);
  seen.push_back(message.id);
  seen.push_back(server.load(message.id));
}

class ServerFiber {
 public:
  ServerFiber(Party& server, Seen& seen, std::uint64_t& posted)
      : server_(server), seen_(seen[0]), posted_(posted) {}

  void run(const std::vector<VerbCall>& calls) {
    for (std::size_t index = 0; index < calls.size(); ++index) {
      if (calls[index].is_late) sleep_before(server_, index);
      make(calls[index], value_of(0, index));
    }
  }

 private:
  void make(const VerbCall& call, std::uint64_t value) {
    switch (call.verb) {
      case Verb::read: seen_.push_back(server_.load(call.word)); break;
      case Verb::write: server_.store(call.word, value); break;
      case Verb::post_receive: post_receive(server_, call.word, posted_++); break;
      case Verb::await_message: await_message(server_, seen_); break;
      case Verb::compare_and_swap:
      case Verb::fetch_and_add:
      case Verb::send:
        seen_.push_back(server_.processor_compare_and_swap(call.word, 0, value));
        break;
    }
  }

  Party& server_;
  std::vector<std::uint64_t>& seen_;
  std::uint64_t& posted_;  // receive requests
};

litmus::Program server_program(const VerbsProgram& program, Seen& seen) {
  return [&program, &seen](Party& server) {
    std::uint64_t posted = program.offered_receives * program.clients.size();
    if (program.second_fiber.empty()) {
      ServerFiber(server, seen, posted).run(program.server);
      return;
    }
    const fabric::FiberId second = server.host().spawn(
        {.name = "second"}, [&] { ServerFiber(server, seen, posted).run(program.second_fiber); });
    ServerFiber(server, seen, posted).run(program.server);
    server.host().join(second);
  };
}

litmus::Program offer_receives(const VerbsProgram& program) {
  return [&program](Party& server) {
    std::uint64_t posted = 0;
    for (std::uint64_t client = 0; client < program.clients.size(); ++client) {
      for (std::uint64_t count = 0; count < program.offered_receives; ++count) {
        post_receive(server, client, posted++);
      }
    }
  };
}

class Onlooker final : public sim::TraceObserver {
 public:
  void look_at(Trial& trial) { trial_ = &trial; }
  void observe(const sim::TraceEvent& /*event*/) override {
    if (trial_ != nullptr) trial_->server().memory().bytes();
  }
  sim::EventKinds observed_kinds() const override {
    return sim::event_kinds({sim::EventKind::words_written, sim::EventKind::atomic_written});
  }

 private:
  Trial* trial_ = nullptr;
};

}  // namespace

VerbsProgram draw_verbs_program(std::uint64_t seed) {
  fabric::RandomGenerator random(seed);
  VerbsProgram program;
  const auto draw = [&random] {
    return VerbCall{.verb = static_cast<Verb>(random.below(4)),
                    .word = random.below(words),
                    .is_chained = random.below(3) == 0};
  };
  if (random.below(4) == 0) program.atomic_capability = fabric::AtomicCapability::device;
  const std::uint64_t clients = 1 + random.below(2);
  for (std::uint64_t client = 0; client < clients; ++client) {
    program.clients.emplace_back();
    const std::uint64_t calls = clients == 2 ? 1 : 1 + random.below(2);
    while (program.clients.back().size() < calls) program.clients.back().push_back(draw());
  }
  const std::uint64_t accesses = random.below(clients == 2 ? 2 : 3);
  while (program.server.size() < accesses) program.server.push_back(draw());
  return program;
}

// Every client sends as many messages. All receive requests are used, because senders wait for
// them; the server waits for as many messages as it has posted requests for, or fewer.
VerbsProgram draw_messages_program(std::uint64_t seed) {
  fabric::RandomGenerator random(seed);
  VerbsProgram program;
  program.shares_receives = random.below(3) == 0;
  const std::uint64_t clients = 1 + random.below(2);
  const std::uint64_t messages = clients == 2 ? 1 : 1 + random.below(2);
  for (std::uint64_t client = 0; client < clients; ++client) {
    std::vector<VerbCall> calls(messages, {.verb = Verb::send, .word = 0});
    const bool has_access = random.below(clients == 2 ? 4 : 2) == 0;
    const VerbCall access{.verb = random.below(2) == 0 ? Verb::read : Verb::write,
                          .word = random.below(words)};
    if (has_access) {
      calls.insert(calls.begin() + static_cast<std::ptrdiff_t>(random.below(messages + 1)), access);
    }
    for (VerbCall& call : calls) call.is_chained = random.below(2) == 0;
    program.clients.push_back(std::move(calls));
  }
  program.offered_receives = random.below(messages + 1);
  for (std::uint64_t round = program.offered_receives; round < messages; ++round) {
    for (std::uint64_t client = 0; client < clients; ++client) {
      program.server.push_back({.verb = Verb::post_receive, .word = client});
      if (random.below(3) == 0) program.server.push_back({.verb = Verb::await_message});
    }
  }
  if (random.below(3) == 0) program.server.push_back({.verb = Verb::await_message});
  const auto awaited = std::ranges::count(program.server, Verb::await_message, &VerbCall::verb);
  const bool waits_for_too_many = static_cast<std::uint64_t>(awaited) > messages * clients;
  if (waits_for_too_many) program.server.pop_back();
  return program;
}

// Divides the calls of the server.
VerbsProgram draw_fibers_program(std::uint64_t seed) {
  VerbsProgram program = draw_messages_program(seed);
  fabric::RandomGenerator random(seed);
  program.fibers_take_turns = true;
  std::vector<VerbCall> calls;
  calls.swap(program.server);
  const Verb access = random.below(2) == 0 ? Verb::read : Verb::write;
  calls.push_back({.verb = access, .word = random.below(words)});
  for (const VerbCall& call : calls) {
    (random.below(2) == 0 ? program.server : program.second_fiber).push_back(call);
  }
  return program;
}

VerbsProgram draw_faulty_program(std::uint64_t seed) {
  using sim::FaultKind;
  constexpr std::array kinds = {FaultKind::client_crash,  FaultKind::client_pause,
                                FaultKind::client_stop,   FaultKind::queue_pair_error,
                                FaultKind::late_packets,  FaultKind::server_stall,
                                FaultKind::latency_spike, FaultKind::slow_landing};
  fabric::RandomGenerator random(seed);
  VerbsProgram program;
  const auto draw = [&random] {
    const auto verb = static_cast<Verb>(random.below(4));
    const std::uint64_t word = random.below(words);
    return VerbCall{.verb = verb, .word = word, .is_late = random.below(3) == 0};
  };
  const std::uint64_t clients = 1 + random.below(2);
  for (std::uint64_t client = 0; client < clients; ++client) program.clients.push_back({draw()});
  if (clients == 1 && random.below(2) == 0) program.clients.front().push_back(draw());
  if (random.below(3) == 0) program.server.push_back(draw());
  program.max_faults = random.below(4) == 0 ? 2 : 1;
  const std::uint64_t drawn = 1 + random.below(2);
  while (program.faults.size() < drawn) program.faults.push_back(kinds[random.below(kinds.size())]);
  return program;
}

VerbsExecution execute(const VerbsProgram& program, sim::Strategy& strategy,
                       fabric::FiberStackPool& stacks) {
  Seen seen(program.clients.size() + 1);
  litmus::Stage stage;
  stage.client_count = program.clients.size();
  if (program.shares_receives) stage.shared_receive_requests = most_shared_receives;
  stage.prepare_server = offer_receives(program);
  std::vector<litmus::Program> clients;
  for (std::size_t index = 0; index < program.clients.size(); ++index) {
    clients.push_back(client_program(program, index + 1, seen));
  }
  const litmus::Program server = server_program(program, seen);
  Onlooker onlooker;
  sim::Simulation simulation(options_of(program), strategy, stacks,
                             program.is_observed ? &onlooker : nullptr);
  Trial trial(simulation, stage, server, clients);
  onlooker.look_at(trial);
  VerbsExecution execution{.result = simulation.run(), .state = {}};
  if (program.max_faults > 0) {
    execution.state.push_back(static_cast<std::uint64_t>(execution.result.outcome));
  } else if (execution.result.outcome != sim::Outcome::completed) {
    return execution;
  }
  for (std::uint64_t word = 0; word < words; ++word) {
    execution.state.push_back(trial.final_word(word));
  }
  for (const auto& values : seen) {
    execution.state.push_back(values.size());
    execution.state.insert(execution.state.end(), values.begin(), values.end());
  }
  return execution;
}

VerbsResult explore(const VerbsProgram& program, ExhaustiveOptions options) {
  VerbsResult result;
  fabric::FiberStackPool stacks;
  options.explored_from_ns = litmus::programs_start_ns;
  if (program.max_faults > 0) options.max_faults = program.max_faults;
  result.counts = explore_executions(options, [&](sim::Strategy& strategy) {
    const VerbsExecution execution = execute(program, strategy, stacks);
    if (!execution.state.empty()) result.states.insert(execution.state);
    return Execution{.outcome = execution.result.outcome, .steps = execution.result.steps};
  });
  return result;
}

void explore(const VerbsProgram& program, Search& search,
             const std::function<bool(const VerbsExecution&)>& see) {
  SearchStrategy strategy(search, {.explored_from_ns = litmus::programs_start_ns});
  fabric::FiberStackPool stacks;
  do {
    strategy.begin_run();
    const VerbsExecution execution = execute(program, strategy, stacks);
    search.end_execution(false);
    if (!strategy.is_ended() && !see(execution)) return;
  } while (search.find_next_execution());
}

}  // namespace falafel::explorer
