#include "tests/explorer/exhaustive/toy_program.h"

#include <algorithm>

#include "fabric/random.h"

namespace falafel::explorer {
namespace {

using sim::Access;
using sim::Touchable;

constexpr std::uint64_t most_operations = 7;

struct Thread {
  const std::vector<ToyOperation>* operations;
  std::size_t next = 0;
  std::uint64_t seen = 0;  // all values that it has read
};

class ToyExecution {
 public:
  ToyExecution(const ToyProgram& program, Search& search)
      : search_(search), variables_(program.variables, 0) {
    for (const auto& operations : program.threads) threads_.push_back({.operations = &operations});
  }

  std::optional<ToyState> run() {
    for (;;) {
      std::vector<Process> enabled;
      for (std::size_t index = 0; index < threads_.size(); ++index) {
        if (can_step(threads_[index])) enabled.push_back(static_cast<Process>(index + 1));
      }
      if (enabled.empty()) break;
      const std::optional<Process> process = search_.next(enabled);
      if (!process) return std::nullopt;
      Thread& thread = threads_[*process - 1];
      step(thread);
      look_ahead(thread);
    }
    ToyState state = variables_;
    for (const Thread& thread : threads_) {
      state.push_back(thread.seen);
      state.push_back(thread.next);
    }
    return state;
  }

 private:
  bool can_step(const Thread& thread) const {
    if (thread.next == thread.operations->size()) return false;
    const ToyOperation& operation = (*thread.operations)[thread.next];
    return operation.action != ToyAction::await || variables_[operation.variable] != 0;
  }

  void step(Thread& thread) {
    const ToyOperation& operation = (*thread.operations)[thread.next++];
    std::uint64_t& variable = variables_[operation.variable];
    switch (operation.action) {
      case ToyAction::load:
        touch(operation.variable, Access::reads);
        see(thread, variable);
        break;
      case ToyAction::store:
        touch(operation.variable, Access::writes);
        variable = operation.argument;
        break;
      case ToyAction::add:
        touch(operation.variable, Access::adds);
        variable += operation.argument;
        break;
      case ToyAction::fetch_add:
        touch(operation.variable, Access::writes);
        see(thread, variable);
        variable += operation.argument;
        break;
      case ToyAction::swap_if:
        touch(operation.variable, variable == 0 ? Access::writes : Access::reads);
        see(thread, variable);
        if (variable == 0) variable = operation.argument;
        break;
      case ToyAction::await: touch(operation.variable, Access::reads); break;
      case ToyAction::pick:
        touch(operation.variable, Access::writes);
        variable = search_.choose(operation.argument, sim::all_answers);
        break;
      case ToyAction::pick_where: {
        const auto other = static_cast<std::uint32_t>(search_.choose(2, sim::all_answers));
        const auto chosen =
            static_cast<std::uint32_t>((operation.variable + other) % variables_.size());
        touch(chosen, Access::writes);
        variables_[chosen] = operation.argument;
        break;
      }
    }
  }

  // The step ends in the next wait, so it looks whether the thread must wait.
  void look_ahead(const Thread& thread) {
    if (thread.next == thread.operations->size()) return;
    const ToyOperation& next = (*thread.operations)[thread.next];
    if (next.action == ToyAction::await) touch(next.variable, Access::reads);
  }

  void touch(std::uint32_t variable, Access access) {
    search_.touch({Touchable::shared, variable, access});
  }

  static void see(Thread& thread, std::uint64_t value) { thread.seen = thread.seen * 31 + value; }

  Search& search_;
  std::vector<std::uint64_t> variables_;
  std::vector<Thread> threads_;
};

}  // namespace

ToyProgram draw_toy_program(std::uint64_t seed, bool with_questions) {
  fabric::RandomGenerator random(seed);
  ToyProgram program;
  program.variables = static_cast<std::uint32_t>(1 + random.below(3));
  const std::uint64_t threads = 2 + random.below(3);
  const std::uint64_t most = threads == 2 ? 4 : threads == 3 ? 3 : 2;
  const std::uint64_t actions = with_questions ? 8 : 6;
  std::uint64_t left = most_operations;
  for (std::uint64_t thread = 0; thread < threads; ++thread) {
    auto& operations = program.threads.emplace_back();
    const std::uint64_t others = threads - thread - 1;
    const std::uint64_t count = 1 + random.below(std::min(most, left - others));
    left -= count;
    while (operations.size() < count) {
      operations.push_back({.action = static_cast<ToyAction>(random.below(actions)),
                            .variable = static_cast<std::uint32_t>(random.below(program.variables)),
                            .argument = 2 * random.below(2)});
      if (operations.back().action == ToyAction::pick) operations.back().argument = 2;
    }
  }
  return program;
}

std::optional<ToyState> execute(const ToyProgram& program, Search& search) {
  return ToyExecution(program, search).run();
}

ToyResult explore(const ToyProgram& program, Search& search) {
  ToyResult result;
  do {
    if (const auto state = execute(program, search)) {
      ++result.executions;
      result.states.insert(*state);
    } else {
      ++result.redundant;
    }
    search.end_execution(false);
  } while (search.find_next_execution());
  return result;
}

}  // namespace falafel::explorer
