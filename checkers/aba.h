// ABA: a compare-and-swap that succeeds although the entry changed after the party read it.
//
// The checker gives an entry a new ghost version whenever it changes. For each word that a party
// has read in a slot, it remembers the version of the latest read. When that party's
// compare-and-swap succeeds on the word, the version must be unchanged. The check is stricter than
// linearizability: ABA is reported even if the history is linearizable.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "checkers/judgement.h"
#include "engine/layout/entry.h"

namespace falafel::checkers {

class AbaChecker {
 public:
  // Returns a party's name for explanations.
  using NameParty = std::function<std::string(std::uint32_t party)>;

  AbaChecker(std::uint64_t table_entries, NameParty name_party)
      : slots_(table_entries), name_party_(std::move(name_party)) {}

  // Call these in the order in which the accesses take effect. A party is anything that reads and
  // swaps on its own account. The value that a failed compare-and-swap returns counts as a read.
  void on_read(std::uint32_t party, std::uint64_t slot, engine::Entry entry);
  void on_swapped(std::uint32_t party, std::uint64_t slot, engine::Entry expected,
                  engine::Entry desired, std::uint64_t step);

  // The first violation. Property: "aba".
  const Judgement& judgement() const { return judgement_; }

 private:
  // A word that a party has read, with the version of the slot at that time.
  struct Reading {
    std::uint32_t party;
    std::uint64_t word;
    std::uint64_t version;
  };
  struct Slot {
    std::uint64_t version = 0;
    std::vector<Reading> readings;  // sorted by party and word
  };

  static std::vector<Reading>::iterator place_of(Slot& slot, std::uint32_t party,
                                                 std::uint64_t word);
  static bool is_reading(const Slot& slot, std::vector<Reading>::iterator place,
                         std::uint32_t party, std::uint64_t word);
  static void remember(Slot& slot, std::uint32_t party, std::uint64_t word);

  std::vector<Slot> slots_;
  NameParty name_party_;
  Judgement judgement_{.verdict = Verdict::holds, .property = "aba", .explanation = {}};
};

}  // namespace falafel::checkers
