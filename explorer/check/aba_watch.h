// Follows the words that a world must keep free of ABA (checkers/aba.h): who reads, writes and
// swaps them, judged from the events of the simulator.
//
// A party is a fiber. Requests count for the fiber that posted them, whichever queue pair they use.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "checkers/aba.h"
#include "explorer/check/names.h"
#include "explorer/subjects.h"
#include "fabric/sim/trace.h"

namespace falafel::check {

class AbaWatch {
 public:
  // The names outlive the watch.
  explicit AbaWatch(const Names& names);
  AbaWatch(const AbaWatch&) = delete;
  AbaWatch& operator=(const AbaWatch&) = delete;

  // Watches the words of this range, in every block of memory.
  void add_range(std::uint64_t offset, std::uint64_t length_bytes);
  // See checkers/aba.h.
  void permit_undone_swaps() { checker_.permit_undone_swaps(); }
  bool is_empty() const { return offsets_.empty(); }

  void introduce(const sim::Subject& subject) { subjects_.introduce(subject); }
  void observe(const sim::TraceEvent& event);
  const checkers::Judgement& judgement() const { return checker_.judgement(); }

 private:
  struct Word {
    std::uint32_t memory;
    std::uint64_t offset;
  };

  std::string name_of_party(std::uint32_t fiber) const;
  std::string name_of_word(std::uint64_t word) const;
  // The fiber that posted the request of the event.
  std::uint32_t poster_of(const sim::TraceEvent& event) const;
  std::uint64_t number_of(std::uint32_t memory, std::uint64_t offset);
  // Calls visit(word, offset) for each watched word that the event touches.
  template <typename Visit>
  void for_each_word(const sim::TraceEvent& event, Visit visit);
  void on_read(std::uint32_t fiber, const sim::TraceEvent& event);
  void on_written(std::uint32_t fiber, const sim::TraceEvent& event);
  void on_atomic_read(const sim::TraceEvent& event);
  void on_atomic_written(const sim::TraceEvent& event);
  void on_swapped(std::uint32_t fiber, const sim::TraceEvent& event, std::uint64_t expected);

  const Names& names_;
  explorer::Subjects subjects_;
  checkers::AbaChecker checker_;
  std::set<std::uint64_t> offsets_;
  std::vector<Word> words_;  // by the number that the checker knows
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> numbers_;
  // By queue pair and place in its send queue.
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> posters_;
  // Atomics that have read their word and not written it, likewise.
  std::set<std::pair<std::uint32_t, std::uint64_t>> in_gap_;
  std::uint32_t running_ = 0;  // the fiber that runs
};

}  // namespace falafel::check
