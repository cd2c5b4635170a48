// Source-DPOR: Algorithm 1 of P. A. Abdulla, S. Aronsson, B. Jonsson, K. Sagonas, "Source Sets: A
// Foundation for Optimal Dynamic Partial Order Reduction", JACM 64(4), 2017 (first: POPL 2014),
// with sleep sets. Names and line numbers are those of the paper:
//
//   Explore(E, Sleep)
//    1   if exists p in enabled(E) \ Sleep then
//    2     backtrack(E) := {p}
//    3     while exists p in backtrack(E) \ Sleep do
//    4       foreach e in dom(E) such that e and next(E, p) are in a reversible race do
//    5         let E' = pre(E, e)
//    6         let v = notdep(e, E).p
//    7         if I(E', v) and backtrack(E') are disjoint then
//    8           add some q of I(E', v) to backtrack(E')
//    9       let Sleep' := {q in Sleep | p and q are independent after E}
//   10       Explore(E.p, Sleep')
//   11       add p to Sleep
//
// The recursion is a stack of nodes, one per step of the execution E, because the program runs
// again from its start for each execution. Three things differ from the paper:
//
//  - A step asks questions. For each p of line 3, the search goes through all answers. The step of
//    p in a sleep set touches what it touches with any answers.
//  - A step may disable another process, which the paper excludes. The two steps then race,
//    although the second one never happens: the disabled process is added to backtrack(E).
//  - The environment can make a step only while no process but faults can, so its race with an
//    earlier step is reversible only if that was a fault.
//  - A step e may change what the next step r of another process touches, which the paper excludes,
//    too. If r sleeps, its footprint before the change is known. A later step f that depends on r
//    as it was then counts as a race with e: in the trace f.r.e, no step sleeps, but neither e and
//    f nor f and the changed r depend on each other, so no other race leads there.
//
// docs/exhaustive.md argues why the reduction is sound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "explorer/exhaustive/question.h"
#include "explorer/exhaustive/search.h"

namespace falafel::explorer {

// Tells if the two steps, of different processes, depend on each other.
using Dependence = std::function<bool(const Step&, const Step&)>;

// A part of the tree of executions: those that begin with these steps.
struct Subtree {
  struct Decision {
    Process process = environment;
    std::vector<std::uint64_t> answers;
  };
  std::vector<Decision> prefix;
  std::vector<Step> sleep;  // below the prefix
};

class SourceDpor final : public Search {
 public:
  explicit SourceDpor(Dependence dependence = dependent) : dependence_(std::move(dependence)) {}

  // Before the first execution: explores a part of the tree.
  void explore_only(Subtree subtree) { subtree_ = std::move(subtree); }
  // Before the first execution: ends executions after `depth` steps. Above, it tries every process
  // that does not sleep, so that each cut() can be explored by itself.
  void split_at(std::size_t depth) { split_depth_ = depth; }
  // The part of the tree below the present execution, if it ended at the split.
  const std::optional<Subtree>& cut() const { return cut_; }

  std::optional<Process> next(std::span<const Process> enabled) override;
  std::uint64_t choose(std::uint64_t bound, sim::Answers sufficient) override;
  void touch(const sim::Touch& touch) override;
  void end_execution(bool is_cut_off) override;
  bool find_next_execution() override;
  double explored_share() const override;

  // The present execution ended because all processes that could continue it sleep: it is
  // redundant.
  bool is_redundant() const { return is_redundant_; }
  // Equal for two executions exactly if they are equivalent, but for collisions: it is a hash of
  // the steps and of the happens-before relation.
  std::uint64_t identify_trace() const;

 private:
  // For each process, by its index, how many of its steps happen before a step or are it.
  using Clock = std::vector<std::uint32_t>;

  // The state after a prefix E of the execution, and the step that is taken from there.
  struct Node {
    std::vector<Process> enabled;
    std::vector<Process> backtrack;
    std::vector<const Step*> sleep;   // Sleep when Explore(E, Sleep) was called
    std::vector<const Step*> roused;  // those of them that depend on the step
    std::vector<Step> explored;       // what line 11 added to Sleep, and the present process
    Step step;
    std::vector<std::uint64_t> answers;  // to the questions of the step
    std::vector<Question> questions;
    std::size_t process_index = 0;  // of the step's process
    Clock clock;                    // of the step

    bool has_in_backtrack(Process process) const;
    bool sleeps(Process process) const;
  };

  bool is_at_split() const { return split_depth_ && size_ == *split_depth_; }
  void choose_step(Node& node);
  void end_at_split(std::span<const Process> enabled);
  Node& push_node(std::span<const Process> enabled);
  void fill_sleep_set(Node& node, const Node& parent) const;
  std::optional<Process> choose_first(const Node& node) const;
  std::size_t index_of(Process process);

  void end_step(std::span<const Process> enabled_afterwards);
  void start_clock(std::size_t index);
  void find_roused(Node& node) const;
  std::vector<std::size_t> find_races(std::size_t index);
  bool rouses_a_rival(const Node& node, const Step& later) const;
  bool happens_before(std::size_t earlier, std::size_t later) const;
  bool is_reversible(std::size_t earlier, std::size_t later) const;
  void reverse_race(std::size_t earlier, std::size_t later);
  bool is_initial(std::size_t candidate, std::span<const std::size_t> sequence) const;

  static void add_to_sleep(Node& node);
  static bool advance_answers(Node& node);
  static bool advance_process(Node& node);

  Dependence dependence_;
  Subtree subtree_;  // all executions begin with its prefix
  std::optional<std::size_t> split_depth_;
  std::optional<Subtree> cut_;
  std::map<Process, std::size_t> indices_;  // of the processes that have made steps
  std::vector<Node> nodes_;      // the first `size_` are in use; the others keep their memory
  std::size_t size_ = 0;         // nodes of the execution
  std::size_t position_ = 0;     // steps that have begun
  std::size_t questions_ = 0;    // asked in the present step
  std::size_t ended_steps_ = 0;  // steps whose races are known
  bool is_redundant_ = false;
};

}  // namespace falafel::explorer
