// A search through all executions of a program. The program runs again and again from its start;
// the search decides each time how it goes.
//
//   do {
//     ...  // run: next() before each step, choose() and touch() within it
//     search.end_execution(is_cut_off);
//   } while (search.find_next_execution());
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "explorer/exhaustive/step.h"
#include "fabric/sim/strategies/strategy.h"

namespace falafel::explorer {

class Search {
 public:
  virtual ~Search() = default;

  // The process that makes the next step, one of `enabled`. None if the search has seen all
  // continuations: the execution must end here. The program asks again when the step is over, until
  // no process is enabled.
  virtual std::optional<Process> next(std::span<const Process> enabled) = 0;
  // Answers a question within the present step: a number below `bound`, which is above 1.
  virtual std::uint64_t choose(std::uint64_t bound, sim::Answers sufficient) = 0;
  // The present step accesses an object.
  virtual void touch(const sim::Touch& touch) = 0;

  // The execution has ended, or next() ended it, or it was cut off although processes are enabled.
  virtual void end_execution(bool is_cut_off) = 0;
  // Prepares the next execution; false if there is none.
  virtual bool find_next_execution() = 0;
  // The share of the executions that come before the next one, from 0 to 1. An estimate, because
  // each alternative that is known so far counts as much as any other at its place: the weighted
  // backtrack estimator of P. Kilby, J. Slaney, S. Thiebaux, T. Walsh, "Estimating Search Tree
  // Size", AAAI 2006. It falls when the search finds out that there is more to explore.
  virtual double explored_share() const = 0;
};

}  // namespace falafel::explorer
