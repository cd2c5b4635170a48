// Some calls of a history, as a history of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "checkers/call_outline.h"
#include "checkers/linearization/model.h"
#include "checkers/linearization/object_model.h"

namespace falafel::checkers::linearization {

class PartialHistory final : public ObjectModel {
 public:
  // Both must outlive its use here.
  PartialHistory(ObjectModel& whole, std::span<const std::size_t> calls)
      : whole_(whole), calls_(calls) {}

  std::size_t calls() const override { return calls_.size(); }
  CallOutline outline(std::size_t call) const override { return whole_.outline(calls_[call]); }
  bool only_reads(std::size_t call) const override { return whole_.only_reads(calls_[call]); }
  std::string describe(std::size_t call) const override { return whole_.describe(calls_[call]); }

  bool compares_operations() const override { return whole_.compares_operations(); }
  bool are_equal(std::size_t call, std::size_t other) const override {
    return whole_.are_equal(calls_[call], calls_[other]);
  }

  bool has_parts() const override { return whole_.has_parts(); }
  std::string part(std::size_t call) const override { return whole_.part(calls_[call]); }

  void forget_states() override { whole_.forget_states(); }
  State step(State before, std::size_t call) override { return whole_.step(before, calls_[call]); }
  std::uint64_t states_bytes() const override { return whole_.states_bytes(); }
  std::string describe_state_after(std::span<const std::size_t> order) const override {
    std::vector<std::size_t> calls;
    for (const std::size_t call : order) calls.push_back(calls_[call]);
    return whole_.describe_state_after(calls);
  }

  bool looks_ahead() const override { return whole_.looks_ahead(); }
  void plan(std::span<const PlannedCall> planned) override {
    std::vector<PlannedCall> calls;
    for (const auto& [call, ignores_answer] : planned) {
      calls.push_back({calls_[call], ignores_answer});
    }
    whole_.plan(calls);
  }
  void order(std::size_t planned) override { whole_.order(planned); }
  void undo(std::size_t planned) override { whole_.undo(planned); }
  bool may_follow(State before, std::size_t planned, State after) const override {
    return whole_.may_follow(before, planned, after);
  }

 private:
  ObjectModel& whole_;
  std::span<const std::size_t> calls_;
};

}  // namespace falafel::checkers::linearization
