// The calls and answers of the clients of a world. At the end of the run, the history is
// judged: there must be an order of all operations that respects real time and gives every answer
// (checkers/specification.h). Operations that never return may take effect or not.
//
//   auto& history = world.history<Queue>();
//   ... history.call(client, Push{7}, [&] { return queue.push(7); });
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "checkers/specification.h"
#include "checkers/specification_history.h"
#include "checkers/specification_linearizability.h"
#include "explorer/check/world.h"

namespace falafel::check {

inline constexpr std::string_view linearizability_property = "linearizability";

template <checkers::Specification S>
class History {
 public:
  using Operation = typename S::Operation;
  using Answer = typename S::Result;

  History(World& world, Condition& is_judged) : world_(world), is_judged_(is_judged) {}
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  // Records the operation and what `function` returns, and returns it. The function returns
  //   an answer,
  //   an optional answer: empty if the outcome is unknown, or
  //   nothing, if there is only one answer (Answer{}).
  // If it throws, because its connection is lost or its host crashes, the outcome is unknown.
  template <typename Function>
  auto call(std::uint32_t client, Operation operation, Function&& function) {
    const std::uint64_t time = world_.next_call_time();
    const std::size_t number = calls_.call(time, client, operation);
    if (world_.listener() != nullptr) {
      world_.listener()->on_call(world_.name_of_client(client), time,
                                 S::describe(operation, nullptr));
    }
    if constexpr (std::is_void_v<std::invoke_result_t<Function>>) {
      std::forward<Function>(function)();
      complete(client, number, time, Answer{});
    } else {
      auto answer = std::forward<Function>(function)();
      static_assert(is_answer<decltype(answer)> || is_optional_answer<decltype(answer)>,
                    "History::call: the function must return the specification's Result, an "
                    "optional of it, or nothing");
      if constexpr (is_answer<decltype(answer)>) {
        complete(client, number, time, answer);
      } else if (answer) {
        complete(client, number, time, *answer);
      }
      return answer;
    }
  }

  const checkers::SpecificationHistory<S>& calls() const { return calls_; }

 private:
  template <typename Returned>
  static constexpr bool is_answer = std::is_convertible_v<Returned, Answer>;
  template <typename Returned>
  static constexpr bool is_optional_answer = requires(const Returned& returned) {
    static_cast<bool>(returned);
    { *returned } -> std::convertible_to<Answer>;
  };

  void complete(std::uint32_t client, std::size_t number, std::uint64_t call_time, Answer answer) {
    if (world_.listener() != nullptr) {
      world_.listener()->on_return(
          world_.name_of_client(client), call_time,
          "returns: " + S::describe(calls_.calls()[number].operation, &answer));
    }
    calls_.complete(world_.next_return_time(), number, std::move(answer));
    is_judged_.reached();
  }

  World& world_;
  Condition& is_judged_;
  checkers::SpecificationHistory<S> calls_;
};

template <checkers::Specification S>
History<S>& World::history(const std::string& name) {
  std::string property(linearizability_property);
  if (!name.empty()) property += "." + name;
  Condition& is_judged = sometimes(property + std::string(judged_suffix));
  const auto history = std::make_shared<History<S>>(*this, is_judged);
  at_end([history, property = std::move(property)](explorer::Run& run) {
    checkers::Judgement judgement = checkers::check_linearizability(history->calls());
    judgement.property = property;
    if (judgement.verdict == checkers::Verdict::violated) {
      run.violations.push_back(std::move(judgement));
    } else if (judgement.verdict == checkers::Verdict::unknown) {
      run.unknown.push_back(std::move(judgement));
    }
  });
  return *history;
}

}  // namespace falafel::check
