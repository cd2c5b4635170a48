#include "tools/command_line/acceptance/rules/axiomatic_model.h"

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <utility>
#include <vector>

namespace falafel::litmus {
namespace {

struct Event {
  std::size_t party = 0;  // clients, then the processor
  std::size_t place = 0;  // of its call among those of the party
  Call call;
  bool is_write = false;  // of a word; otherwise it reads one

  bool is_of_same_call(const Event& other) const {
    return party == other.party && place == other.place;
  }
};

// Tells if the axiom says that `earlier` is before `later`. Both are of one party, whose calls are
// `calls`, and `earlier` is of an earlier call.
bool orders(Axiom axiom, const Event& earlier, const Event& later, const Calls& calls,
            bool is_processor) {
  if (is_processor) return axiom == Axiom::program_order;
  const auto is_fenced = [](const Call& call) { return call.is_fenced; };
  switch (axiom) {
    case Axiom::write_before_all: return earlier.call.verb == Verb::write;
    case Axiom::atomic_before_reads:
      return is_atomic(earlier.call.verb) && later.call.verb == Verb::read;
    case Axiom::before_fenced: return reads(earlier.call.verb) && later.call.is_fenced;
    case Axiom::before_all_behind_fence:
      return reads(earlier.call.verb) &&
             std::any_of(calls.begin() + static_cast<std::ptrdiff_t>(earlier.place) + 1,
                         calls.begin() + static_cast<std::ptrdiff_t>(later.place), is_fenced);
    case Axiom::program_order:
    case Axiom::one_atomic_at_a_time: break;
  }
  return false;
}

// Goes through all executions, event by event. Two beginnings of executions that consist of the
// same events and have the same effects have the same continuations.
class Executions {
 public:
  Executions(const SmallProgram& program, std::optional<Axiom> without)
      : program_(program), without_(without) {
    for (std::size_t party = 0; party <= program.clients.size(); ++party) add_events(party);
  }

  std::set<SmallOutcome> outcomes() {
    extend({});
    return std::move(outcomes_);
  }

 private:
  // A beginning of an execution.
  struct Beginning {
    std::uint32_t events = 0;  // bit i: event i is in it
    std::array<std::uint64_t, small_program_words> words{};
    std::vector<std::pair<std::size_t, std::uint64_t>> found;  // by events that read

    friend auto operator<=>(const Beginning&, const Beginning&) = default;
  };

  const Calls& calls_of(std::size_t party) const {
    return party < program_.clients.size() ? program_.clients[party] : program_.processor;
  }

  void add_events(std::size_t party) {
    const Calls& calls = calls_of(party);
    for (std::size_t place = 0; place < calls.size(); ++place) {
      const Call& call = calls[place];
      if (reads(call.verb)) events_.push_back({party, place, call, false});
      if (call.verb != Verb::read) events_.push_back({party, place, call, true});
    }
  }

  bool contains(const Beginning& beginning, std::size_t event) const {
    return (beginning.events >> event & 1U) != 0;
  }

  bool must_precede(std::size_t earlier_event, std::size_t later_event) const {
    const Event& earlier = events_[earlier_event];
    const Event& later = events_[later_event];
    if (earlier.party != later.party || earlier.place > later.place) return false;
    if (earlier.place == later.place) return earlier_event < later_event;
    return std::ranges::any_of(all_axioms, [&](Axiom axiom) {
      return axiom != without_ && orders(axiom, earlier, later, calls_of(earlier.party),
                                         earlier.party == program_.clients.size());
    });
  }

  // Axiom::one_atomic_at_a_time: another atomic on the word of this one has begun, and is not over.
  bool meets_atomic(const Beginning& beginning, std::size_t event, std::size_t write) const {
    const bool has_begun = write > 0 && events_[write].is_of_same_call(events_[write - 1]) &&
                           contains(beginning, write - 1);
    return has_begun && is_atomic(events_[event].call.verb) &&
           events_[event].call.word == events_[write].call.word &&
           !events_[event].is_of_same_call(events_[write]);
  }

  bool may_follow(const Beginning& beginning, std::size_t event) const {
    for (std::size_t other = 0; other < events_.size(); ++other) {
      if (other == event || contains(beginning, other)) continue;
      if (must_precede(other, event)) return false;
      if (without_ != Axiom::one_atomic_at_a_time && meets_atomic(beginning, event, other)) {
        return false;
      }
    }
    return true;
  }

  void add_read(Beginning& beginning, std::size_t event) const {
    const Call& call = events_[event].call;
    const std::uint64_t found = beginning.words[call.word];
    beginning.found.emplace_back(event, found);
    std::ranges::sort(beginning.found);
    const bool does_not_match = call.verb == Verb::compare_and_swap && found != 0;
    if (does_not_match) beginning.events |= 1U << (event + 1);
  }

  void add_write(Beginning& beginning, std::size_t event) const {
    const Event& write = events_[event];
    std::uint64_t value = value_of(write.party, write.place);
    if (write.call.verb == Verb::fetch_and_add) {
      const auto read = std::ranges::find(beginning.found, event - 1,
                                          &std::pair<std::size_t, std::uint64_t>::first);
      value += read->second;
    }
    beginning.words[write.call.word] = value;
  }

  void extend(const Beginning& beginning) {
    if (!seen_.insert(beginning).second) return;
    bool is_complete = true;
    for (std::size_t event = 0; event < events_.size(); ++event) {
      if (contains(beginning, event)) continue;
      is_complete = false;
      if (!may_follow(beginning, event)) continue;
      Beginning longer = beginning;
      longer.events |= 1U << event;
      events_[event].is_write ? add_write(longer, event) : add_read(longer, event);
      extend(longer);
    }
    if (!is_complete) return;
    SmallOutcome outcome(beginning.words.begin(), beginning.words.end());
    for (const auto& [event, value] : beginning.found) outcome.push_back(value);
    outcomes_.insert(std::move(outcome));
  }

  const SmallProgram& program_;
  std::optional<Axiom> without_;
  std::vector<Event> events_;  // the two of an atomic are neighbors
  std::set<Beginning> seen_;
  std::set<SmallOutcome> outcomes_;
};

}  // namespace

std::set<SmallOutcome> allowed_outcomes(const SmallProgram& program, std::optional<Axiom> without) {
  return Executions(program, without).outcomes();
}

}  // namespace falafel::litmus
