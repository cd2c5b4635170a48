#include "tools/benchmarks/random_history/random_object_history.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <variant>

#include "checkers/specifications/priority_queue.h"
#include "checkers/specifications/queue.h"
#include "checkers/specifications/register.h"
#include "checkers/specifications/set.h"
#include "checkers/specifications/stack.h"

namespace falafel::checkers::generators {
namespace {

using fabric::RandomGenerator;
using specifications::PriorityQueue;
using specifications::Queue;
using specifications::Register;
using specifications::Set;
using specifications::Stack;

// Draws operations and executes them.
template <typename S>
struct Object;

template <typename S>
struct SequenceObject {
  typename S::Operation draw(RandomGenerator& random) {
    if (random.below(2) == 0) return typename S::Pop{};
    return typename S::Push{++last_value};
  }
  typename S::Result execute(const typename S::Operation& operation) {
    const bool finds_nothing = std::holds_alternative<typename S::Pop>(operation) && state.empty();
    if (finds_nothing) return std::nullopt;
    typename S::Result result;
    if (std::holds_alternative<typename S::Pop>(operation)) {
      result = std::is_same_v<S, Queue> ? state.front() : state.back();
    }
    S::apply(state, operation, nullptr);
    return result;
  }
  typename S::State state{};
  std::uint64_t last_value = 0;
};
template <>
struct Object<Queue> : SequenceObject<Queue> {};
template <>
struct Object<Stack> : SequenceObject<Stack> {};

template <>
struct Object<PriorityQueue> {
  PriorityQueue::Operation draw(RandomGenerator& random) {
    if (random.below(2) == 0) return PriorityQueue::Pop{};
    // Each value occurs once, because the factor is odd.
    constexpr std::uint64_t factor = 2'654'435'769;
    return PriorityQueue::Push{++pushes * factor % (std::uint64_t{1} << 32U)};
  }
  PriorityQueue::Result execute(const PriorityQueue::Operation& operation) {
    PriorityQueue::Result result;
    const bool pops = std::holds_alternative<PriorityQueue::Pop>(operation);
    if (pops && !state.empty()) result = *state.begin();
    PriorityQueue::apply(state, operation, nullptr);
    return result;
  }
  PriorityQueue::State state{};
  std::uint64_t pushes = 0;
};

template <>
struct Object<Register> {
  Register::Operation draw(RandomGenerator& random) {
    if (random.below(2) == 0) return Register::Read{};
    return Register::Write{++last_value};
  }
  Register::Result execute(const Register::Operation& operation) {
    Register::apply(state, operation, nullptr);
    return state;
  }
  Register::State state = 0;
  std::uint64_t last_value = 0;
};

// Operations concern the values that were added last.
template <>
struct Object<Set> {
  static constexpr std::uint64_t recent_values = 100;

  Set::Operation draw(RandomGenerator& random) {
    const std::uint64_t kind = random.below(10);
    if (kind < 4) return Set::Add{++last_value};
    const std::uint64_t age = random.below(std::min(last_value + 1, recent_values));
    const std::uint64_t value = last_value - age;
    if (kind < 6) return Set::Remove{value};
    return Set::Contains{value};
  }
  Set::Result execute(const Set::Operation& operation) {
    bool& is_present = present[std::visit([](const auto& any) { return any.value; }, operation)];
    const bool was_present = is_present;
    Set::apply(is_present, operation, nullptr);
    return std::holds_alternative<Set::Add>(operation) ? !was_present : was_present;
  }
  std::map<std::uint64_t, bool> present{};
  std::uint64_t last_value = 0;
};

template <typename S>
class ObjectHistoryGenerator {
 public:
  ObjectHistoryGenerator(const ObjectHistoryOptions& options, RandomGenerator& random)
      : options_(options), random_(random), clients_(options.clients) {}

  std::vector<Call<S>> run() {
    while (calls_.size() < options_.operations || pending_ > 0) {
      step(static_cast<std::uint32_t>(random_.below(options_.clients)));
    }
    return std::move(calls_);
  }

 private:
  struct Client {
    std::optional<std::size_t> call{};
    std::optional<typename S::Result> result{};
  };

  // An operation without an answer is given up before or after it took effect.
  bool is_given_up() { return random_.below(2'000) < options_.unanswered_permille; }

  void step(std::uint32_t number) {
    Client& client = clients_[number];
    ++time_;
    if (!client.call) {
      call(client, number);
    } else if (!client.result) {
      client.result = object_.execute(calls_[*client.call].operation);
      if (is_given_up()) call_again(client, number);
    } else {
      calls_[*client.call].result = std::move(client.result);
      calls_[*client.call].return_time = time_;
      call_again(client, number);
    }
  }

  void call_again(Client& client, std::uint32_t number) {
    client = {};
    --pending_;
    ++time_;
    call(client, number);
  }

  void call(Client& client, std::uint32_t number) {
    if (calls_.size() == options_.operations) return;
    client.call = calls_.size();
    ++pending_;
    calls_.push_back({.client = number, .operation = object_.draw(random_), .call_time = time_});
    if (!is_given_up()) return;
    client = {};
    --pending_;
  }

  ObjectHistoryOptions options_;
  RandomGenerator& random_;
  Object<S> object_{};
  std::vector<Client> clients_;
  std::vector<Call<S>> calls_;
  std::size_t pending_ = 0;
  std::uint64_t time_ = 0;
};

template <typename S>
bool precedes(const Call<S>& left, const Call<S>& right) {
  return left.result && left.return_time < right.call_time;
}

// Tries pairs of calls that are not far from each other, beginning anywhere, until `plant` finds
// one that fits and changes its answers.
template <typename S, typename Plant>
void plant_in_pair(std::vector<Call<S>>& calls, RandomGenerator& random, Plant plant) {
  constexpr std::size_t farthest = 400;
  const std::size_t start = random.below(calls.size());
  for (std::size_t tried = 0; tried < calls.size(); ++tried) {
    const std::size_t first = (start + tried) % calls.size();
    const std::size_t last = std::min(calls.size(), first + farthest);
    for (std::size_t second = first + 1; second < last; ++second) {
      if (plant(calls[first], calls[second])) return;
    }
  }
}

// Tells whether the take of the second value must not precede that of the first.
template <typename S>
bool is_wrong_exchanged(const Call<S>& push_of_first, const Call<S>& first,
                        const Call<S>& push_of_second, const Call<S>& second) {
  if (std::is_same_v<S, Queue>) return precedes(push_of_first, push_of_second);
  if (!precedes(push_of_first, first)) return false;
  if (std::is_same_v<S, PriorityQueue>) return *first.result < *second.result;
  return precedes(push_of_second, push_of_first);
}

// Two values leave a queue, a stack or a priority queue in the wrong order.
template <typename S>
void plant_violation_of_sequence(std::vector<Call<S>>& calls, RandomGenerator& random) {
  std::map<std::uint64_t, std::size_t> push_of;
  for (std::size_t position = 0; position < calls.size(); ++position) {
    if (const auto* const push = std::get_if<typename S::Push>(&calls[position].operation)) {
      push_of[push->value] = position;
    }
  }
  const auto takes = [](const Call<S>& call) {
    return std::holds_alternative<typename S::Pop>(call.operation) && call.result && *call.result;
  };
  plant_in_pair<S>(calls, random, [&](Call<S>& first, Call<S>& second) {
    if (!takes(first) || !takes(second) || !precedes(first, second)) return false;
    const Call<S>& push_of_first = calls[push_of[**first.result]];
    const Call<S>& push_of_second = calls[push_of[**second.result]];
    const bool fits = is_wrong_exchanged<S>(push_of_first, first, push_of_second, second);
    if (fits) std::swap(first.result, second.result);
    return fits;
  });
}

void plant_violation(std::vector<Call<Queue>>& calls, RandomGenerator& random) {
  plant_violation_of_sequence<Queue>(calls, random);
}
void plant_violation(std::vector<Call<Stack>>& calls, RandomGenerator& random) {
  plant_violation_of_sequence<Stack>(calls, random);
}

void plant_violation(std::vector<Call<PriorityQueue>>& calls, RandomGenerator& random) {
  plant_violation_of_sequence<PriorityQueue>(calls, random);
}

// A read finds a value that was overwritten before.
void plant_violation(std::vector<Call<Register>>& calls, RandomGenerator& random) {
  const Call<Register>* overwritten = nullptr;
  plant_in_pair<Register>(calls, random, [&](Call<Register>& first, Call<Register>& second) {
    const auto* const write = std::get_if<Register::Write>(&first.operation);
    if (write == nullptr || !first.result) return false;
    const bool begins = overwritten == nullptr || !precedes(*overwritten, first);
    if (begins) {
      if (overwritten == nullptr) overwritten = &first;
      return false;
    }
    const bool reads = std::holds_alternative<Register::Read>(second.operation) && second.result;
    if (!reads || !precedes(first, second)) return false;
    second.result = std::get<Register::Write>(overwritten->operation).value;
    return true;
  });
}

// A value that was added and never removed is missing.
void plant_violation(std::vector<Call<Set>>& calls, RandomGenerator& random) {
  std::map<std::uint64_t, bool> is_removed;
  for (const Call<Set>& call : calls) {
    if (const auto* const remove = std::get_if<Set::Remove>(&call.operation)) {
      is_removed[remove->value] = true;
    }
  }
  plant_in_pair<Set>(calls, random, [&](const Call<Set>& first, Call<Set>& second) {
    const auto* const add = std::get_if<Set::Add>(&first.operation);
    const auto* const contains = std::get_if<Set::Contains>(&second.operation);
    const bool fits = add != nullptr && contains != nullptr && add->value == contains->value &&
                      !is_removed[add->value] && precedes(first, second) && second.result;
    if (fits) second.result = false;
    return fits;
  });
}

}  // namespace

template <typename S>
std::vector<Call<S>> random_object_history(const ObjectHistoryOptions& options,
                                           RandomGenerator& random) {
  std::vector<Call<S>> calls = ObjectHistoryGenerator<S>(options, random).run();
  if (options.plants_violation && !calls.empty()) plant_violation(calls, random);
  return calls;
}

template std::vector<Call<Queue>> random_object_history<Queue>(const ObjectHistoryOptions&,
                                                               RandomGenerator&);
template std::vector<Call<Stack>> random_object_history<Stack>(const ObjectHistoryOptions&,
                                                               RandomGenerator&);
template std::vector<Call<PriorityQueue>> random_object_history<PriorityQueue>(
    const ObjectHistoryOptions&, RandomGenerator&);
template std::vector<Call<Register>> random_object_history<Register>(const ObjectHistoryOptions&,
                                                                     RandomGenerator&);
template std::vector<Call<Set>> random_object_history<Set>(const ObjectHistoryOptions&,
                                                           RandomGenerator&);

}  // namespace falafel::checkers::generators
