// The calls of a recorded history on one of several independent objects.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "checkers/call_outline.h"
#include "checkers/formats/specification_fields.h"
#include "checkers/linearizability_report.h"
#include "checkers/monitored_linearizability.h"
#include "checkers/specification_history.h"

namespace falafel::checkers::formats {

// Only its members know the types of the specification. Errors are exceptions of type
// std::runtime_error.
class RecordedObject {
 public:
  RecordedObject() = default;
  RecordedObject(const RecordedObject&) = delete;
  RecordedObject& operator=(const RecordedObject&) = delete;
  virtual ~RecordedObject() = default;

  // Begins the next call.
  virtual void read_operation(Fields& fields) = 0;
  virtual void read_result(Fields& fields) = 0;
  // Ends the call; returns its description.
  virtual std::string add(const CallOutline& outline) = 0;

  virtual LinearizabilityReport report(const LinearizabilityLimits& limits) const = 0;
};

// An object with the specification S, whose calls a derived class reads.
template <typename S>
class RecordedObjectOf : public RecordedObject {
 public:
  explicit RecordedObjectOf(typename S::State initial) : initial_(std::move(initial)) {}

  std::string add(const CallOutline& outline) override {
    Call<S>& call = calls_.back();
    call.client = outline.client;
    call.call_time = outline.call_time;
    call.return_time = outline.return_time;
    call.is_refused = outline.is_refused;
    return S::describe(call.operation, call.answer());
  }

  LinearizabilityReport report(const LinearizabilityLimits& limits) const override {
    constexpr std::size_t all_operations = std::numeric_limits<std::size_t>::max();
    return MonitoredChecker<S>(limits, initial_).report(calls_, all_operations);
  }

 protected:
  void begin(typename S::Operation operation) {
    calls_.emplace_back().operation = std::move(operation);
  }
  void answer(typename S::Result result) { calls_.back().result = std::move(result); }
  const Call<S>& last() const { return calls_.back(); }

 private:
  typename S::State initial_;
  std::vector<Call<S>> calls_;
};

}  // namespace falafel::checkers::formats
