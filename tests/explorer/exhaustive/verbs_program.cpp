#include "tests/explorer/exhaustive/verbs_program.h"

#include "explorer/exhaustive/search_strategy.h"
#include "fabric/random.h"
#include "tests/litmus/party.h"
#include "tests/litmus/words.h"

namespace falafel::explorer {
namespace {

using litmus::Party;
using litmus::Trial;

constexpr std::uint64_t words = 2;

sim::SimulationOptions options_of(const VerbsProgram& program) {
  sim::SimulationOptions options;
  options.atomic_capability = program.atomic_capability;
  options.step_limit = 10'000;
  return options_for_exploration(options).value();
}

fabric::WorkRequest request_of(Party& client, const VerbCall& call, std::uint64_t value) {
  switch (call.verb) {
    case Verb::read: return client.read(call.word);
    case Verb::write: return client.write(call.word, {value});
    case Verb::compare_and_swap: return client.compare_and_swap(call.word, 0, value);
    case Verb::fetch_and_add: break;
  }
  return client.fetch_and_add(call.word, value);
}

// Each client and each call has values of its own.
std::uint64_t value_of(std::size_t party, std::size_t call) { return 10 * (party + 1) + call; }

using Seen = std::vector<std::vector<std::uint64_t>>;  // by party

litmus::Program client_program(const std::vector<VerbCall>& calls, std::size_t party, Seen& seen) {
  return [&calls, &seen, party](Party& client) {
    std::vector<fabric::WorkRequest> chain;
    for (std::size_t index = 0; index < calls.size(); ++index) {
      chain.push_back(request_of(client, calls[index], value_of(party, index)));
      if (calls[index].is_chained && index + 1 < calls.size()) continue;
      litmus::must(client.try_post(chain));
      client.finish();
      for (const fabric::WorkRequest& request : chain) {
        if (request.opcode != fabric::Opcode::write) {
          seen[party].push_back(client.result(request));
        }
      }
      chain.clear();
    }
  };
}

litmus::Program server_program(const std::vector<VerbCall>& calls, Seen& seen) {
  return [&calls, &seen](Party& server) {
    for (std::size_t index = 0; index < calls.size(); ++index) {
      const std::uint64_t value = value_of(0, index);
      const std::uint64_t word = calls[index].word;
      if (calls[index].verb == Verb::read) {
        seen[0].push_back(server.load(word));
      } else if (calls[index].verb == Verb::write) {
        server.store(word, value);
      } else {
        seen[0].push_back(server.processor_compare_and_swap(word, 0, value));
      }
    }
  };
}

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

VerbsExecution execute(const VerbsProgram& program, sim::Strategy& strategy,
                       fabric::FiberStackPool& stacks) {
  Seen seen(program.clients.size() + 1);
  litmus::Stage stage;
  stage.client_count = program.clients.size();
  std::vector<litmus::Program> clients;
  for (std::size_t index = 0; index < program.clients.size(); ++index) {
    clients.push_back(client_program(program.clients[index], index + 1, seen));
  }
  const litmus::Program server = server_program(program.server, seen);
  sim::Simulation simulation(options_of(program), strategy, stacks);
  Trial trial(simulation, stage, server, clients);
  VerbsExecution execution{.result = simulation.run(), .state = {}};
  if (execution.result.outcome != sim::Outcome::completed) return execution;
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
  result.counts = explore_executions(options, [&](sim::Strategy& strategy) {
    const VerbsExecution execution = execute(program, strategy, stacks);
    const bool is_completed = execution.result.outcome == sim::Outcome::completed;
    if (is_completed) result.states.insert(execution.state);
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
