#include "tests/litmus/small_program_run.h"

#include "tests/litmus/words.h"

#include "fabric/sim/simulation.h"
#include "tests/litmus/party.h"

namespace falafel::litmus {
namespace {

constexpr std::uint64_t step_limit = 10'000;

fabric::WorkRequest request_of(Party& client, const Call& call, std::uint64_t value) {
  switch (call.verb) {
    case Verb::read: return client.read(call.word);
    case Verb::write: return client.write(call.word, {value});
    case Verb::compare_and_swap: return client.compare_and_swap(call.word, 0, value);
    case Verb::fetch_and_add: break;
  }
  return client.fetch_and_add(call.word, value);
}

// The program as the parties of a trial run it.
class Staged {
 public:
  explicit Staged(const SmallProgram& program) : program_(program) {
    stage_.client_count = program.clients.size();
    for (std::size_t party = 0; party < program.clients.size(); ++party) {
      clients_.emplace_back([this, party](Party& client) { post(client, party); });
    }
    if (!program.processor.empty()) server_ = [this](Party& server) { run_processor(server); };
  }

  sim::Outcome run(sim::Strategy& strategy, const sim::SimulationOptions& options,
                   fabric::FiberStackPool& stacks) {
    requests_.assign(program_.clients.size(), {});
    loaded_.clear();
    sim::Simulation simulation(options, strategy, stacks);
    Trial trial(simulation, stage_, server_, clients_);
    const sim::Outcome outcome = simulation.run().outcome;
    if (outcome == sim::Outcome::completed) note_outcome(trial);
    return outcome;
  }

  const SmallOutcome& outcome() const { return outcome_; }

 private:
  // The results are looked up when the run is over, so nobody waits for the completions.
  void post(Party& client, std::size_t party) {
    const Calls& calls = program_.clients[party];
    for (std::size_t place = 0; place < calls.size(); ++place) {
      fabric::WorkRequest request = request_of(client, calls[place], value_of(party, place));
      request.fenced = calls[place].is_fenced;
      requests_[party].push_back(unsignalled(request));
    }
    must(client.try_post(requests_[party]));
  }

  void run_processor(Party& server) {
    const Calls& calls = program_.processor;
    for (std::size_t place = 0; place < calls.size(); ++place) {
      if (calls[place].verb == Verb::read) {
        loaded_.push_back(server.load(calls[place].word));
      } else {
        server.store(calls[place].word, value_of(program_.clients.size(), place));
      }
    }
  }

  void note_outcome(Trial& trial) {
    outcome_.clear();
    for (std::uint64_t word = 0; word < small_program_words; ++word) {
      outcome_.push_back(trial.final_word(word));
    }
    for (std::size_t party = 0; party < program_.clients.size(); ++party) {
      for (std::size_t place = 0; place < requests_[party].size(); ++place) {
        if (!reads(program_.clients[party][place].verb)) continue;
        outcome_.push_back(trial.client(party).result(requests_[party][place]));
      }
    }
    outcome_.insert(outcome_.end(), loaded_.begin(), loaded_.end());
  }

  const SmallProgram& program_;
  Stage stage_;
  Program server_;
  std::vector<Program> clients_;
  std::vector<std::vector<fabric::WorkRequest>> requests_;  // by client
  std::vector<std::uint64_t> loaded_;
  SmallOutcome outcome_;
};

}  // namespace

ExploredProgram explore(const SmallProgram& program, fabric::FiberStackPool& stacks) {
  sim::SimulationOptions options;
  options.step_limit = step_limit;
  const auto explored = explorer::options_for_exploration(options);
  Staged staged(program);
  ExploredProgram result;
  result.counts = explorer::explore_executions(
      {.explored_from_ns = programs_start_ns}, [&](sim::Strategy& strategy) {
        const sim::Outcome outcome = staged.run(strategy, *explored, stacks);
        if (outcome == sim::Outcome::completed) result.outcomes.insert(staged.outcome());
        return explorer::Execution{.outcome = outcome};
      });
  return result;
}

}  // namespace falafel::litmus
