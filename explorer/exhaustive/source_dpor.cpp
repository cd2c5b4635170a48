#include "explorer/exhaustive/source_dpor.h"

#include <algorithm>
#include <bit>

#include "fabric/assert.h"
#include "fabric/random.h"

namespace falafel::explorer {
namespace {

bool contains(std::span<const Process> processes, Process process) {
  return std::ranges::find(processes, process) != processes.end();
}

void join(std::vector<std::uint32_t>& clock, const std::vector<std::uint32_t>& other) {
  if (clock.size() < other.size()) clock.resize(other.size(), 0);
  for (std::size_t index = 0; index < other.size(); ++index) {
    clock[index] = std::max(clock[index], other[index]);
  }
}

std::uint32_t at(const std::vector<std::uint32_t>& clock, std::size_t index) {
  return index < clock.size() ? clock[index] : 0;
}

}  // namespace

bool SourceDpor::Node::has_in_backtrack(Process process) const {
  return contains(backtrack, process);
}

bool SourceDpor::Node::sleeps(Process process) const {
  return std::ranges::any_of(sleep, [&](const Step* other) { return other->process == process; }) ||
         std::ranges::any_of(explored, [&](const Step& other) { return other.process == process; });
}

// An execution

std::optional<Process> SourceDpor::next(std::span<const Process> enabled) {
  end_step(enabled);
  if (is_redundant_ || cut_) return std::nullopt;
  if (position_ == size_ && is_at_split()) {
    end_at_split(enabled);
    return std::nullopt;
  }
  if (position_ == size_) {
    Node& node = push_node(enabled);
    choose_step(node);
    if (node.backtrack.empty()) {
      is_redundant_ = !enabled.empty();
      --size_;
      return std::nullopt;
    }
  }
  const Node& node = nodes_[position_++];
  FALAFEL_ASSERT(node.enabled.size() == enabled.size() && contains(enabled, node.step.process),
                 "the program is not repeatable: step {} can be made by {} processes, not {}",
                 position_ - 1, enabled.size(), node.enabled.size());
  questions_ = 0;
  return node.step.process;
}

std::uint64_t SourceDpor::choose(std::uint64_t bound, sim::Answers sufficient) {
  // The only answer is known. Such questions can differ between equivalent executions.
  if (std::has_single_bit(sufficient)) {
    return static_cast<std::uint64_t>(std::countr_zero(sufficient));
  }
  const Question question{.bound = bound, .sufficient = sufficient};
  Node& node = nodes_[position_ - 1];
  std::vector<std::uint64_t>& answers = node.answers;
  if (questions_ == answers.size()) {
    answers.push_back(question.first_from(0).value());
  }
  if (questions_ == node.questions.size()) node.questions.push_back(question);
  FALAFEL_ASSERT(node.questions[questions_] == question,
                 "the program is not repeatable: question {} of step {} has {} answers, not {}",
                 questions_, position_ - 1, bound, node.questions[questions_].bound);
  return answers[questions_++];
}

void SourceDpor::touch(const sim::Touch& touch) {
  if (position_ > ended_steps_) nodes_[position_ - 1].step.footprint.add(touch);
}

void SourceDpor::end_execution(bool is_cut_off) {
  if (!is_redundant_ && !cut_ && position_ > 0) {
    end_step(is_cut_off ? std::span<const Process>(nodes_[position_ - 1].enabled)
                        : std::span<const Process>());
  }
  position_ = 0;
}

SourceDpor::Node& SourceDpor::push_node(std::span<const Process> enabled) {
  if (size_ == nodes_.size()) nodes_.emplace_back();
  Node& node = nodes_[size_];
  node.enabled.assign(enabled.begin(), enabled.end());
  node.backtrack.clear();
  node.sleep.clear();
  node.explored.clear();
  node.answers.clear();
  node.step.footprint.clear();
  node.questions.clear();
  if (size_ == subtree_.prefix.size()) {
    for (const Step& step : subtree_.sleep) node.sleep.push_back(&step);
  } else if (size_ > 0) {
    fill_sleep_set(node, nodes_[size_ - 1]);
  }
  ++size_;
  return node;
}

// Lines 1 and 2. Leaves `backtrack` empty if all processes sleep.
void SourceDpor::choose_step(Node& node) {
  const std::size_t index = size_ - 1;
  if (index < subtree_.prefix.size()) {
    node.step.process = subtree_.prefix[index].process;
    node.answers = subtree_.prefix[index].answers;
    node.backtrack.push_back(node.step.process);
    return;
  }
  const std::optional<Process> first = choose_first(node);
  if (!first) return;
  node.step.process = *first;
  node.backtrack.push_back(*first);
  if (split_depth_) node.backtrack = node.enabled;
}

// The part below begins with the steps so far, and with the sleep set of the next step.
void SourceDpor::end_at_split(std::span<const Process> enabled) {
  const Node& next = push_node(enabled);
  --size_;
  is_redundant_ = !enabled.empty() && !choose_first(next);
  if (is_redundant_ || enabled.empty()) return;
  cut_.emplace();
  for (std::size_t index = 0; index < size_; ++index) {
    cut_->prefix.push_back({nodes_[index].step.process, nodes_[index].answers});
  }
  for (const Step* step : next.sleep) cut_->sleep.push_back(*step);
}

// Line 9. The steps stay where they are in the nodes below, which exist longer than this one.
void SourceDpor::fill_sleep_set(Node& node, const Node& parent) const {
  const auto keep = [&](const Step& step) {
    if (step.process == parent.step.process || dependence_(step, parent.step)) return;
    node.sleep.push_back(&step);
  };
  for (const Step* step : parent.sleep) keep(*step);
  for (const Step& step : parent.explored) keep(step);
}

// The process of the step before if possible, so that executions switch rarely.
// Faults strike only where a race asks for it.
std::optional<Process> SourceDpor::choose_first(const Node& node) const {
  std::optional<Process> first;
  for (const Process process : node.enabled) {
    if (node.sleeps(process)) continue;
    const bool goes_on = size_ > 1 && process == nodes_[size_ - 2].step.process;
    if (goes_on && !is_fault(process)) return process;
    if (!first || process < *first) first = process;
  }
  return first;
}

// Races

// Lines 4 to 8, once the step has been made. The races of replayed steps are known.
void SourceDpor::end_step(std::span<const Process> enabled_afterwards) {
  if (position_ <= ended_steps_) return;
  const std::size_t index = position_ - 1;
  start_clock(index);
  find_roused(nodes_[index]);
  for (const std::size_t earlier : find_races(index)) reverse_race(earlier, index);  // line 4
  Node& node = nodes_[index];
  for (const Process process : node.enabled) {
    if (process == node.step.process || contains(enabled_afterwards, process)) continue;
    if (!node.has_in_backtrack(process)) node.backtrack.push_back(process);
  }
  ended_steps_ = position_;
}

void SourceDpor::find_roused(Node& node) const {
  node.roused.clear();
  for (const Step* sleeping : node.sleep) {
    if (dependence_(*sleeping, node.step)) node.roused.push_back(sleeping);
  }
}

// The steps of the same process happen before.
void SourceDpor::start_clock(std::size_t index) {
  Node& node = nodes_[index];
  node.process_index = index_of(node.step.process);
  node.clock.assign(node.process_index + 1, 0);
  for (std::size_t earlier = index; earlier-- > 0;) {
    if (nodes_[earlier].process_index != node.process_index) continue;
    node.clock = nodes_[earlier].clock;
    break;
  }
  ++node.clock[node.process_index];
}

std::size_t SourceDpor::index_of(Process process) {
  return indices_.try_emplace(process, indices_.size()).first->second;
}

// Completes the clock. Because it goes backwards, a step that happens before another one that
// happens before the new step is known by then, and does not race.
std::vector<std::size_t> SourceDpor::find_races(std::size_t index) {
  Node& node = nodes_[index];
  std::vector<std::size_t> races;
  for (std::size_t earlier = index; earlier-- > 0;) {
    const Node& before = nodes_[earlier];
    if (happens_before(earlier, index)) continue;
    const bool is_dependent = dependence_(before.step, node.step);
    if (!is_dependent && !rouses_a_rival(before, node.step)) continue;
    if (is_reversible(earlier, index)) races.push_back(earlier);
    if (is_dependent) join(node.clock, before.clock);
  }
  return races;
}

// Tells if the step of the node changes a sleeping step that depends on the later one.
bool SourceDpor::rouses_a_rival(const Node& node, const Step& later) const {
  return std::ranges::any_of(node.roused, [&](const Step* sleeping) {
    return sleeping->process != later.process && dependence_(*sleeping, later);
  });
}

bool SourceDpor::happens_before(std::size_t earlier, std::size_t later) const {
  const Node& node = nodes_[earlier];
  return at(nodes_[later].clock, node.process_index) >= at(node.clock, node.process_index);
}

// A race is not reversible if the later step was impossible without the earlier one. Another step
// can stand in for the earlier one, and is independent of it, only if both add to one object. The
// environment can move before a fault, unless another process can.
bool SourceDpor::is_reversible(std::size_t earlier, std::size_t later) const {
  const Process process = nodes_[later].step.process;
  const Step& before = nodes_[earlier].step;
  if (process == environment) return is_fault(before.process);
  if (nodes_[later].step.footprint.awaits(before.footprint)) return false;
  if (contains(nodes_[earlier].enabled, process)) return true;
  if (!contains(nodes_[earlier + 1].enabled, process)) return true;
  for (std::size_t index = earlier + 1; index < later; ++index) {
    if (!happens_before(index, later) || happens_before(earlier, index)) continue;
    if (nodes_[earlier].step.footprint.adds_with(nodes_[index].step.footprint)) return true;
  }
  return false;
}

// Lines 5 to 8.
void SourceDpor::reverse_race(std::size_t earlier, std::size_t later) {
  if (earlier < subtree_.prefix.size()) return;  // other parts of the tree begin there
  Node& before = nodes_[earlier];                // line 5
  std::vector<std::size_t> sequence;             // line 6
  for (std::size_t index = earlier + 1; index < later; ++index) {
    if (!happens_before(earlier, index)) sequence.push_back(index);
  }
  sequence.push_back(later);
  for (const std::size_t index : sequence) {  // line 7
    if (before.has_in_backtrack(nodes_[index].step.process) && is_initial(index, sequence)) return;
  }
  const Process first = nodes_[sequence.front()].step.process;  // it is an initial
  if (first == environment && !contains(before.enabled, first)) return;
  FALAFEL_ASSERT(contains(before.enabled, first), "process {} cannot make step {}", first, earlier);
  before.backtrack.push_back(first);  // line 8
}

// Tells if the process of this step is in I(E', v): no step of v happens before it.
bool SourceDpor::is_initial(std::size_t candidate, std::span<const std::size_t> sequence) const {
  for (const std::size_t index : sequence) {
    if (index == candidate) return true;
    if (happens_before(index, candidate)) return false;
  }
  return false;
}

std::uint64_t SourceDpor::identify_trace() const {
  std::uint64_t identity = 0;
  for (std::size_t index = 0; index < size_; ++index) {
    const Node& node = nodes_[index];
    std::uint64_t hash = node.step.process;
    const auto mix = [&hash](std::uint64_t value) {
      hash ^= value;
      hash = fabric::splitmix64(hash);
    };
    for (const std::uint64_t answer : node.answers) mix(answer);
    for (std::size_t process = 0; process < node.clock.size(); ++process) {
      if (node.clock[process] != 0) mix(std::uint64_t{process} << 32U | node.clock[process]);
    }
    identity += hash;
  }
  return identity;
}

// Processes that sleep at a place are no alternatives there.
double SourceDpor::explored_share() const {
  ExploredShare share;
  for (std::size_t index = subtree_.prefix.size(); index < size_; ++index) {
    const Node& node = nodes_[index];
    const Process present = node.step.process;
    const auto before = std::ranges::count_if(
        node.explored, [&](const Step& step) { return step.process != present; });
    const auto later = std::ranges::count_if(node.backtrack, [&](Process process) {
      return process != present && !node.sleeps(process);
    });
    share.descend(static_cast<std::uint64_t>(before),
                  static_cast<std::uint64_t>(before + 1 + later));
    for (std::size_t question = 0; question < node.answers.size(); ++question) {
      share.descend(node.questions[question], node.answers[question]);
    }
  }
  return share.value();
}

// Backtracking

bool SourceDpor::find_next_execution() {
  is_redundant_ = false;
  cut_.reset();
  for (; size_ > subtree_.prefix.size(); --size_) {
    Node& node = nodes_[size_ - 1];
    ended_steps_ = size_ - 1;
    add_to_sleep(node);
    node.step.footprint.clear();
    if (advance_answers(node) || advance_process(node)) return true;
  }
  return false;
}

// Line 11. The process stays there, with all that it touches, while its other answers follow.
void SourceDpor::add_to_sleep(Node& node) {
  if (node.explored.empty() || node.explored.back().process != node.step.process) {
    node.explored.push_back(node.step);
  } else {
    node.explored.back().footprint.add(node.step.footprint);
  }
}

// The next answers to the questions of the step. The questions after the one with a new answer are
// asked again.
bool SourceDpor::advance_answers(Node& node) {
  while (!node.answers.empty()) {
    const auto other = node.questions.back().first_from(node.answers.back() + 1);
    if (other) {
      node.answers.back() = *other;
      return true;
    }
    node.answers.pop_back();
    node.questions.pop_back();
  }
  return false;
}

// Line 3.
bool SourceDpor::advance_process(Node& node) {
  for (const Process process : node.backtrack) {
    if (node.sleeps(process)) continue;
    node.step.process = process;
    return true;
  }
  return false;
}

}  // namespace falafel::explorer
