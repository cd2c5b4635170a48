// Locations that clients remember (docs/protocol.md, "The location cache"): a client uses a word
// that it remembers only for a limited time after a moment at which the word was in the table.
// The number of tag bits follows from this time, so an older word need not do harm to be wrong.
//
// A swap that an operation posts before it has read the table rests on such a word. The checker
// judges it when it is posted: if the word has left its slot, it left less than the time before the
// operation began.
//
// Property: "location.trusted-too-long".
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "checkers/history.h"
#include "checkers/judgement.h"
#include "engine/layout/entry.h"

namespace falafel::checkers {

class TrustedLocations {
 public:
  explicit TrustedLocations(std::uint64_t trust_ns) : trust_ns_(trust_ns) {}

  // The word of a slot was replaced.
  void on_replaced(std::uint64_t slot, engine::Entry word, std::uint64_t time_ns) {
    left_ns_[{slot, word.word()}] = time_ns;
  }
  // A word is in a slot again, which tags prevent unless they have few bits.
  void on_present(std::uint64_t slot, engine::Entry word) { left_ns_.erase({slot, word.word()}); }
  // The table is another one.
  void on_restart() { left_ns_.clear(); }

  // An operation, which was called at this time, posts a swap of a word that it remembers.
  void on_used(std::uint64_t slot, engine::Entry word, const Operation& operation,
               std::uint64_t call_ns, std::uint64_t step);

  // The first violation.
  const Judgement& judgement() const { return judgement_; }

 private:
  std::uint64_t trust_ns_;
  // When words have left their slots; without those that are there.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> left_ns_;
  Judgement judgement_{
      .verdict = Verdict::holds, .property = "location.trusted-too-long", .explanation = {}};
};

}  // namespace falafel::checkers
