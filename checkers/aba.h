// ABA: a compare-and-swap that succeeds although the entry has changed since it was read.
//
// Every change of an entry gives it a new ghost version. A party remembers, for each word it has read in
// a slot, the version at which it last read it; when its compare-and-swap succeeds on that word, the
// version must still be the same. That is so even if the history happens to look fine.
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
  // What a party is called in explanations.
  using NameParty = std::function<std::string(std::uint32_t party)>;

  AbaChecker(std::uint64_t table_entries, NameParty name_party)
      : slots_(table_entries), name_party_(std::move(name_party)) {}

  // In the order in which they take effect. A party is whoever reads and swaps on its own account. What
  // a failed compare-and-swap returns is read, too.
  void on_read(std::uint32_t party, std::uint64_t slot, engine::Entry entry);
  void on_swapped(std::uint32_t party, std::uint64_t slot, engine::Entry expected,
                  engine::Entry desired, std::uint64_t step);

  // The first violation; property "aba".
  const Judgement& judgement() const { return judgement_; }

 private:
  // A party and a word that it has read, with the version of the slot at which it was.
  struct Reading {
    std::uint32_t party;
    std::uint64_t word;
    std::uint64_t version;
  };
  struct Slot {
    std::uint64_t version = 0;
    std::vector<Reading> readings;  // by party and word
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
