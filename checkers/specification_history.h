// Histories of operations on an object with a sequential specification (specification.h). Times and
// clients mean the same as in history.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "checkers/call_outline.h"
#include "checkers/specification.h"
#include "fabric/fabric.h"

namespace falafel::checkers {

template <Specification S>
struct Call {
  std::uint32_t client = 0;
  typename S::Operation operation{};
  // nullopt: no answer; the operation takes effect at some time after the call, or never.
  std::optional<typename S::Result> result{};
  bool is_refused = false;  // had no effect and reveals nothing; checkers ignore the call
  std::uint64_t call_time = 0;
  std::uint64_t return_time = 0;  // at or after call_time; ignored without a result

  const typename S::Result* answer() const { return result ? &*result : nullptr; }
};

template <Specification S>
CallOutline outline_of(const Call<S>& call) {
  return {.client = call.client,
          .has_answer = call.result.has_value(),
          .is_refused = call.is_refused,
          .call_time = call.call_time,
          .return_time = call.return_time};
}

// Describes the call with its times: "client 3: push 7 (call 10, return 15)".
template <Specification S>
std::string describe(const Call<S>& call) {
  return describe(outline_of(call), S::describe(call.operation, call.answer()));
}

// A history under construction. A call that never completes stays without an answer.
template <Specification S>
class SpecificationHistory {
 public:
  // Returns the call's number for complete() and refuse().
  std::size_t call(std::uint64_t time, std::uint32_t client, typename S::Operation operation) {
    calls_.push_back({.client = client, .operation = std::move(operation), .call_time = time});
    return calls_.size() - 1;
  }

  void complete(std::uint64_t time, std::size_t number, typename S::Result result) {
    Call<S>& completed = pending(time, number);
    completed.result = std::move(result);
    completed.return_time = time;
  }

  // The operation had no effect and reveals nothing about the object.
  void refuse(std::uint64_t time, std::size_t number) {
    Call<S>& refused = pending(time, number);
    refused.is_refused = true;
    refused.return_time = time;
  }

  std::span<const Call<S>> calls() const { return calls_; }
  void clear() { calls_.clear(); }

 private:
  Call<S>& pending(std::uint64_t time, std::size_t number) {
    FALAFEL_ASSERT(number < calls_.size(), "call {} does not exist; the history has {}", number,
                   calls_.size());
    Call<S>& call = calls_[number];
    FALAFEL_ASSERT(!call.result && !call.is_refused, "the call completed twice: {}",
                   describe(call));
    FALAFEL_ASSERT(time >= call.call_time, "the call returns at {}, before it began: {}", time,
                   describe(call));
    return call;
  }

  std::vector<Call<S>> calls_;
};

}  // namespace falafel::checkers
