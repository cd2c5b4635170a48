// Bounds how often a search preempts a process: a process is preempted if another one makes the
// next step although it could go on (M. Musuvathi, S. Qadeer: "Iterative Context Bounding for
// Systematic Testing of Multithreaded Programs", PLDI 2007). Many flaws need few preemptions. A
// fault preempts nobody.
//
// Equivalent executions can differ in their preemptions, so a reduction could leave out the one
// that is within the bound. Use a search without reduction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <vector>

#include "explorer/exhaustive/search.h"

namespace falafel::explorer {

class PreemptionBound final : public Search {
 public:
  PreemptionBound(Search& search, std::uint64_t max_preemptions)
      : search_(search), max_preemptions_(max_preemptions) {}

  std::optional<Process> next(std::span<const Process> enabled) override {
    const bool could_go_on = last_ && std::ranges::find(enabled, *last_) != enabled.end();
    const bool must_go_on = could_go_on && preemptions_ == max_preemptions_;
    const std::optional<Process> chosen =
        search_.next(must_go_on ? without_preemption(enabled) : enabled);
    has_bound_ |= must_go_on && allowed_.size() < enabled.size();
    if (chosen && is_fault(*chosen)) return chosen;
    if (could_go_on && chosen && *chosen != *last_) ++preemptions_;
    last_ = chosen;
    return chosen;
  }
  std::uint64_t choose(std::uint64_t bound, sim::Answers sufficient) override {
    return search_.choose(bound, sufficient);
  }
  void touch(const sim::Touch& touch) override { search_.touch(touch); }
  void end_execution(bool is_cut_off) override {
    last_.reset();
    preemptions_ = 0;
    search_.end_execution(is_cut_off);
  }
  bool find_next_execution() override { return search_.find_next_execution(); }
  double explored_share() const override { return search_.explored_share(); }

  // An execution was kept from a further preemption.
  bool has_bound() const { return has_bound_; }

 private:
  // The process that can go on, and faults.
  std::span<const Process> without_preemption(std::span<const Process> enabled) {
    allowed_.clear();
    std::ranges::copy_if(enabled, std::back_inserter(allowed_),
                         [&](Process process) { return process == *last_ || is_fault(process); });
    return allowed_;
  }

  Search& search_;
  std::uint64_t max_preemptions_;
  std::uint64_t preemptions_ = 0;  // in the present execution
  std::optional<Process> last_;    // that made a step
  bool has_bound_ = false;
  std::vector<Process> allowed_;
};

}  // namespace falafel::explorer
