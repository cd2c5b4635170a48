// Readings: what clients may conclude from words of the table that they have read.
//
// - A search by keys compares the server's counter of rebindings before and after its words
//   (engine/client/walk.h). If the counter was odd before, a removal was under way, and the counter
//   cannot show that nothing has moved. The search then waits before it reads the counter again.
// - A search answers that a key is absent although it has read each word of an earlier table only
//   once, if these words are settled: no key can come there any more. An entry without a key is
//   settled only if its table was not the last one when the client read it: the cleanup moves keys
//   in the last table.
// - A scan reads the words of a chunk twice (engine/client/key_scan.h). It visits their keys only
//   if no word was locked, and if no tag advanced by more than one or the counter was the same
//   even number before and after.
//
// Wrong conclusions need not do harm: most of the time, nothing has moved. So the checker judges
// the readings, and not their consequences.
//
// Properties: "reading.impatient", "reading.unsettled", "reading.unproven-chunk".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkers/judgement.h"
#include "engine/layout/entry.h"
#include "engine/layout/geometry.h"

namespace falafel::checkers {

class Readings {
 public:
  enum class What : std::uint8_t { entries, counter, other };
  struct Request {
    std::uint64_t number = 0;  // each once
    What what = What::other;
    std::uint64_t slot = 0;  // entries: the first one, and their number
    std::uint64_t count = 0;
    std::uint64_t buffer = 0;  // where the words go; a second reading goes behind the first
    std::uint64_t time_ns = 0;
    std::uint64_t step = 0;
  };

  explicit Readings(const engine::Geometry& geometry) : geometry_(geometry) {}

  // Calls have any numbers, each of them once while it is pending.
  void on_search(std::uint64_t call, std::uint64_t hash);
  void on_scan(std::uint64_t call);
  // The operation posts a READ, and has the results of its earlier ones.
  void on_read(std::uint64_t call, const Request& request);
  // A word of that READ, of the entry at `index`, or the counter. `last_table`: in use.
  void on_word(std::uint64_t number, std::uint64_t index, std::uint64_t word,
               std::uint32_t last_table, std::uint64_t time_ns);
  void on_swap(std::uint64_t call);
  // `is_conclusive`: a search says that the key is absent, or a scan that it has visited all keys.
  void on_returned(std::uint64_t call, bool is_conclusive, std::uint64_t step);
  void on_abandoned(std::uint64_t call) { on_returned(call, false, 0); }

  // The first violation.
  const Judgement& judgement() const { return judgement_; }

 private:
  using Number = std::uint64_t;
  struct Read {
    std::uint64_t call = 0;
    Request request{};
    std::vector<std::optional<std::uint64_t>> words{};
    std::uint64_t last_ns = 0;  // of its words

    bool is_complete() const;
    bool is_same_as(const Read& other) const;
  };
  // The word of a slot, as a walk has read it first.
  struct FirstWord {
    engine::Entry word{};
    bool was_in_last_table = false;
    std::uint64_t readings = 0;
  };
  struct Search {
    std::uint64_t hash = 0;
    std::optional<Number> counter{};        // read since the last swap
    std::vector<Number> since_counter{};    // READs of entries
    std::optional<std::uint64_t> buffer{};  // of first readings
    std::optional<Number> first_reading{};  // the last one
    std::uint32_t table = 0;                // the last one of the walk
    std::map<std::uint64_t, FirstWord> walk{};
  };
  struct Scan {
    std::optional<Number> counter{};  // the last READ, if it is of the counter
    std::optional<Number> counter_before{};
    std::optional<Number> counter_after{};
    std::optional<Number> first{};
    std::optional<Number> second{};
  };
  struct Call {
    bool is_scan = false;
    Search search{};
    Scan scan{};
    std::vector<Number> reads{};
  };

  void read_in_search(Search& search, const Request& request);
  void read_in_scan(Scan& scan, const Request& request);
  void judge_patience(const Search& search, const Request& counter);
  void judge_walk(const Search& search, std::uint64_t step);
  void judge_chunk(const Scan& scan, std::uint64_t step);
  void walk_word(Search& search, const Read& read, std::uint64_t index, engine::Entry word,
                 std::uint32_t last_table) const;
  bool has_same_even_counter(const Scan& scan) const;
  bool has_met_frozen_slot(const Search& search) const;
  bool has_no_key(engine::Entry word) const;
  void fail(std::string_view property, std::string explanation, std::vector<std::uint64_t> slots,
            std::uint64_t step);

  engine::Geometry geometry_;
  std::map<std::uint64_t, Call> calls_;
  std::map<Number, Read> reads_;  // of the calls that are pending
  Judgement judgement_{.verdict = Verdict::holds, .property = "reading", .explanation = {}};
};

}  // namespace falafel::checkers
