// Sequential specifications: what an object does when its operations execute one after the other.
// The linearizability checker (specification_linearizability.h) judges concurrent histories by
// them.
//
// A specification is a type with static members only. This is all that a counter needs:
//
//   struct Counter {
//     using State = std::int64_t;
//     using Operation = std::int64_t;  // the addend
//     using Result = std::int64_t;     // the counter before
//     static State initial() { return 0; }
//     static bool apply(State& state, const Operation& addend, const Result* before) {
//       const bool is_right = before == nullptr || *before == state;
//       state += addend;
//       return is_right;
//     }
//     static std::string describe(const Operation& addend, const Result* before) {
//       return fmt::format("add {} -> {}", addend, before ? std::to_string(*before) : "?");
//     }
//   };
//
// Required:
//   State       copyable, with ==. hash_of() (checkers/hash.h) hashes numbers, strings and standard
//               containers of them; other states need `static std::uint64_t hash(const State&)`.
//   Operation   what was called, with its arguments: a struct, or a std::variant of structs.
//   Result      what was answered.
//   State initial()
//   bool apply(State& state, const Operation&, const Result* result)
//               True if the operation may answer `result` in `state`. If so, `state` becomes the
//               state afterwards; otherwise it may become anything. Null: the answer is unknown,
//               and every answer is right. The outcome depends on the arguments alone.
//   std::string describe(const Operation&, const Result*)
//               "push 7", "pop -> 3". Null: the answer is unknown.
//
// Optional:
//   std::string describe(const State&)
//               for explanations: `the state is ...`
//   void next_states(const State&, const Operation&, const Result*, std::vector<State>& next)
//               Instead of apply(), for an object that may do several things: appends every state
//               that may follow the answer, or none if the answer would be wrong.
//   std::string partition(const Operation&)
//               For an object that consists of independent ones, like the keys of a map: the one
//               that the operation concerns. Each is judged alone, with a state of its own.
//   bool only_reads(const Operation&, const Result*)
//               True if the operation never changes a state in which its answer is right. True for
//               reads makes the search much shorter. Not for specifications with next_states().
//   Lookahead   type: tells early that an order cannot be continued; see SpecificationLookahead in
//               checkers/linearization/specification_model.h. Not with next_states() either.
//   bool operator==(const Operation&, const Operation&)
//               lets the search treat equal operations without an answer as one.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include "checkers/hash.h"

namespace falafel::checkers {

template <typename S>
concept DeterministicSpecification = requires(typename S::State& state,
                                              const typename S::Operation& operation,
                                              const typename S::Result* result) {
  { S::apply(state, operation, result) } -> std::same_as<bool>;
};

template <typename S>
concept NondeterministicSpecification = requires(const typename S::State& state,
                                                 const typename S::Operation& operation,
                                                 const typename S::Result* result,
                                                 std::vector<typename S::State>& next) {
  { S::next_states(state, operation, result, next) } -> std::same_as<void>;
};

template <typename S>
concept Specification = std::copyable<typename S::State> &&
    std::equality_comparable<typename S::State> && std::copyable<typename S::Operation> &&
    std::copyable<typename S::Result> &&
    (DeterministicSpecification<S> !=
     NondeterministicSpecification<S>)&&requires(const typename S::Operation& operation,
                                                 const typename S::Result* result) {
  { S::initial() } -> std::same_as<typename S::State>;
  { S::describe(operation, result) } -> std::convertible_to<std::string>;
};

template <typename S>
concept PartitionedSpecification = requires(const typename S::Operation& operation) {
  { S::partition(operation) } -> std::convertible_to<std::string>;
};

template <typename S>
concept DescribesStates = requires(const typename S::State& state) {
  { S::describe(state) } -> std::convertible_to<std::string>;
};

template <typename S>
concept KnowsReads = DeterministicSpecification<S> &&
    requires(const typename S::Operation& operation, const typename S::Result* result) {
  { S::only_reads(operation, result) } -> std::same_as<bool>;
};

template <typename S>
concept LooksAhead = DeterministicSpecification<S> && requires {
  typename S::Lookahead;
};

template <Specification S>
std::uint64_t hash_of_state(const typename S::State& state) {
  if constexpr (requires { S::hash(state); }) {
    return S::hash(state);
  } else {
    return hash_of(state);
  }
}

}  // namespace falafel::checkers
