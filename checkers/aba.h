// ABA: a compare-and-swap that succeeds although the word changed after the party read it.
//
// The checker gives a word of memory a new ghost version whenever it changes. For each value that a
// party has read there, it remembers the version of the latest read. When that party's
// compare-and-swap succeeds on the value, the version must be unchanged. The check is stricter than
// linearizability: ABA is reported even if the history is linearizable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checkers/judgement.h"

namespace falafel::checkers {

// Judges words of 64 bits. A word is identified by any number: its address, its offset, its index.
class AbaChecker {
 public:
  // Returns a party's name, and a word's ("slot 3"), for explanations.
  using NameParty = std::function<std::string(std::uint32_t party)>;
  using NameWord = std::function<std::string(std::uint64_t word)>;

  AbaChecker(NameParty name_party, NameWord name_word)
      : name_party_(std::move(name_party)), name_word_(std::move(name_word)) {}

  // If a party swaps a word back that it has swapped, and the word has not changed in between, the
  // word is as it was: those who read it before may swap it. For protocols that undo a swap which
  // has had no effect.
  void permit_undone_swaps() { permits_undone_swaps_ = true; }

  // Call these in the order in which the accesses take effect. A party is anything that reads and
  // swaps on its own account. The value that a failed compare-and-swap returns counts as a read.
  void on_read(std::uint32_t party, std::uint64_t word, std::uint64_t value);
  // A compare-and-swap found the value `expected` and is about to replace it; on_written() follows.
  // Other accesses may come in between, on devices whose atomics exclude only each other.
  void on_compared(std::uint32_t party, std::uint64_t word, std::uint64_t expected,
                   std::uint64_t step);
  // A compare-and-swap replaced the value `expected` by another one, in one step.
  void on_swapped(std::uint32_t party, std::uint64_t word, std::uint64_t expected,
                  std::uint64_t desired, std::uint64_t step);
  // The party changed the word without comparing it, for example by a WRITE or a FETCH_ADD.
  void on_written(std::uint32_t party, std::uint64_t word, std::uint64_t value);

  // The first violation. Property: "aba". The word is the judgement's slot.
  const Judgement& judgement() const { return judgement_; }

 private:
  // A value that a party has read, with the version of the word at that time.
  struct Reading {
    std::uint32_t party;
    std::uint64_t value;
    std::uint64_t version;

    friend bool operator==(const Reading&, const Reading&) = default;
  };
  // A compare-and-swap that found this value and has not written yet.
  struct Comparison {
    std::uint32_t party;
    std::uint64_t value;
  };
  struct Swap {
    std::uint32_t party;
    std::uint64_t before;
    std::uint64_t after;
    std::uint64_t version_before;
  };
  struct Word {
    std::uint64_t number;
    std::uint64_t version = 0;
    std::uint64_t latest_version = 0;  // larger than `version` after an undone swap
    std::optional<Comparison> comparison{};
    std::optional<Swap> last_swap{};  // unless the word has changed since
    std::vector<Reading> readings{};  // sorted by party and value
    std::optional<Reading> newest{};  // of them
  };

  Word& word_of(std::uint64_t number);
  static std::vector<Reading>::iterator place_of(Word& word, std::uint32_t party,
                                                 std::uint64_t value);
  static bool is_reading(const Word& word, std::vector<Reading>::iterator place,
                         std::uint32_t party, std::uint64_t value);
  static void remember(Word& word, std::uint32_t party, std::uint64_t value);
  bool is_undone(const std::optional<Swap>& last, const Swap& swap) const;

  std::vector<Word> words_;  // sorted by number; a run finds its few words faster than in a map
  std::size_t next_ = 0;     // behind the last word that was looked for; most readers go on there
  NameParty name_party_;
  NameWord name_word_;
  bool permits_undone_swaps_ = false;
  Judgement judgement_{.verdict = Verdict::holds, .property = "aba", .explanation = {}};
};

}  // namespace falafel::checkers
