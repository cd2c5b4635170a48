// The reference: goes through all executions, one after the other, depth first. It is the tree of
// all answers to all questions, without any reduction.
#pragma once

#include <cstddef>
#include <vector>

#include "explorer/exhaustive/question.h"
#include "explorer/exhaustive/search.h"

namespace falafel::explorer {

class PlainSearch final : public Search {
 public:
  // Goes through all answers, or only through those that suffice.
  enum class Depth : std::uint8_t { all_answers, sufficient_answers };
  explicit PlainSearch(Depth depth) : depth_(depth) {}

  std::optional<Process> next(std::span<const Process> enabled) override;
  std::uint64_t choose(std::uint64_t bound, sim::Answers sufficient) override;
  void touch(const sim::Touch&) override {}
  void end_execution(bool /*is_cut_off*/) override { position_ = 0; }
  bool find_next_execution() override;
  double explored_share() const override;

 private:
  struct Decision {
    Question question;
    std::uint64_t answer = 0;
  };

  std::uint64_t decide(const Question& question);

  Depth depth_;
  std::vector<Decision> decisions_;  // of the present execution
  std::size_t position_ = 0;
};

}  // namespace falafel::explorer
