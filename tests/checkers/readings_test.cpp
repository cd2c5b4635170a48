// Tests of the checker of readings: searches and scans that may conclude what they do, and others.
#include "checkers/readings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>

#include "tests/checkers/memory.h"

namespace falafel::checkers {
namespace {

using What = Readings::What;

constexpr std::uint64_t call = 3;
constexpr std::uint64_t home = 1;  // of the key, in both tables
constexpr std::uint64_t entries = 4;
constexpr std::uint64_t first_buffer = 8;
constexpr std::uint64_t second_buffer = 40;

Geometry geometry_of(std::uint32_t tables) {
  Geometry geometry;
  geometry.table_entries = entries;
  geometry.most_tables = tables;
  return geometry;
}

Entry live(std::uint32_t reference) { return Entry().pointing_to(reference); }

Entry after(Entry entry, int changes) {
  for (int count = 0; count < changes; ++count) entry = entry.with_next_tag(30);
  return entry;
}

class ReadingsTest : public testing::Test {
 protected:
  explicit ReadingsTest(std::uint32_t tables = 1) : readings_(geometry_of(tables)) {}

  void read(What what, std::uint64_t slot, std::uint64_t buffer,
            std::initializer_list<std::uint64_t> words) {
    readings_.on_read(call, {.number = ++number_,
                             .what = what,
                             .slot = slot,
                             .count = words.size(),
                             .buffer = buffer,
                             .time_ns = now_ns_,
                             .step = 7});
    std::uint64_t index = 0;
    for (const std::uint64_t word : words) {
      readings_.on_word(number_, index++, word, last_table_, now_ns_);
    }
  }
  void read_counter(std::uint64_t value) { read(What::counter, 0, 0, {value}); }
  void read_entries(std::uint64_t slot, std::uint64_t buffer, std::initializer_list<Entry> words) {
    ASSERT_LE(words.size(), 2U);
    const Entry* const word = words.begin();
    if (words.size() == 1) return read(What::entries, slot, buffer, {word[0].word()});
    read(What::entries, slot, buffer, {word[0].word(), word[1].word()});
  }
  void read_chunk(std::initializer_list<Entry> first, std::initializer_list<Entry> second) {
    read_entries(2, first_buffer, first);
    read_entries(2, second_buffer, second);
  }
  void end(bool is_conclusive = true) { readings_.on_returned(call, is_conclusive, 9); }
  void expect_holds() const { EXPECT_EQ(readings_.judgement().verdict, Verdict::holds); }
  void expect_violated(const char* property, std::uint64_t step) const {
    expect_violation(readings_.judgement(), property);
    EXPECT_EQ(readings_.judgement().step, step);
  }

  Readings readings_;
  std::uint64_t number_ = 0;
  std::uint64_t now_ns_ = 5'000;
  std::uint32_t last_table_ = 0;
};

// Searches by keys

TEST_F(ReadingsTest, FindASearchImpatientThatReadsAnOddCounterAgainAtOnce) {
  readings_.on_search(call, home);
  read_counter(3);
  read_entries(home, first_buffer, {live(9)});
  now_ns_ += 999;
  read_counter(3);
  expect_violated("reading.impatient", 7);
}

TEST_F(ReadingsTest, FindNothingIfTheSearchWaits) {
  readings_.on_search(call, home);
  read_counter(3);
  read_entries(home, first_buffer, {live(9)});
  now_ns_ += 1'000;
  read_counter(3);
  expect_holds();
}

TEST_F(ReadingsTest, FindNothingAfterAnEvenCounter) {
  readings_.on_search(call, home);
  read_counter(4);
  read_entries(home, first_buffer, {live(9)});
  read_counter(4);
  expect_holds();
}

TEST_F(ReadingsTest, FindNothingIfAnotherSearchOrASwapComesInBetween) {
  readings_.on_search(call, home);
  read_counter(3);
  read_entries(home, first_buffer, {live(9)});
  read_entries(home, first_buffer, {live(9)});
  read_counter(3);
  read_entries(home, first_buffer, {live(9)});
  readings_.on_swap(call);
  read_counter(3);
  expect_holds();
}

// Searches in a table that grows

class ReadingsOfTablesTest : public ReadingsTest {
 protected:
  ReadingsOfTablesTest() : ReadingsTest(2) {
    keyless_ = live(geometry_of(2).to_units(Geometry::stand_in_offset())).with_deleted();
  }
  // The table begins to grow after the first of these words.
  void walk(Entry word) {
    readings_.on_search(call, home);
    read_entries(home, first_buffer, {word});
    last_table_ = 1;
    read_entries(home + 1, first_buffer, {Entry().frozen()});
    read_entries(entries + home, first_buffer, {Entry()});
  }
  Entry keyless_;
};

TEST_F(ReadingsOfTablesTest, FindAnEntryWithoutAKeyUnsettledInTheLastTable) {
  walk(keyless_);
  end();
  expect_violated("reading.unsettled", 9);
}

TEST_F(ReadingsOfTablesTest, FindItSettledInAFormerTable) {
  last_table_ = 1;
  walk(keyless_);
  end();
  expect_holds();
}

TEST_F(ReadingsOfTablesTest, FindNothingIfTheWordsAreReadAgain) {
  walk(keyless_);
  read_entries(home, second_buffer, {keyless_});
  end();
  expect_holds();
}

TEST_F(ReadingsOfTablesTest, FindNothingIfTheSearchBeginsAgain) {
  walk(keyless_);
  read_entries(home, first_buffer, {live(9)});
  read_entries(home + 1, first_buffer, {Entry().frozen()});
  read_entries(entries + home, first_buffer, {Entry()});
  end();
  expect_holds();
}

TEST_F(ReadingsOfTablesTest, FindNothingIfItBeginsAgainInTheNextTable) {
  readings_.on_search(call, home);
  read_entries(home, first_buffer, {keyless_});
  read_entries(home + 1, first_buffer, {live(9).with_locked()});
  last_table_ = 1;
  read_entries(entries + home, first_buffer, {Entry()});
  end();
  expect_holds();
}

TEST_F(ReadingsOfTablesTest, FindNothingIfTheSearchConcludesNothing) {
  walk(keyless_);
  end(false);
  expect_holds();
}

// Scans

TEST_F(ReadingsTest, FindAChunkProvenWhoseTagsAdvanceByOne) {
  readings_.on_scan(call);
  read_chunk({live(9), Entry()}, {after(live(11), 1), Entry()});
  end();
  expect_holds();
}

TEST_F(ReadingsTest, FindAChunkUnprovenWhoseTagsAdvanceByTwo) {
  readings_.on_scan(call);
  read_chunk({live(9), Entry()}, {after(live(9), 2), Entry()});
  expect_holds();
  read(What::other, 0, 0, {0});
  expect_violated("reading.unproven-chunk", 7);
}

TEST_F(ReadingsTest, FindAChunkUnprovenWithALock) {
  readings_.on_scan(call);
  read_chunk({live(9), Entry()}, {live(9).with_locked(), Entry()});
  end();
  expect_violated("reading.unproven-chunk", 9);
}

TEST_F(ReadingsTest, FindNothingIfTheChunkIsReadAgain) {
  readings_.on_scan(call);
  read_chunk({live(9), Entry()}, {after(live(9), 2), Entry()});
  read_chunk({after(live(9), 2), Entry()}, {after(live(9), 2), Entry()});
  end();
  expect_holds();
}

TEST_F(ReadingsTest, FindAChunkProvenByTheCounter) {
  readings_.on_scan(call);
  read_counter(4);
  read_chunk({live(9), Entry()}, {after(live(9), 5), Entry()});
  read_counter(4);
  end();
  expect_holds();
}

TEST_F(ReadingsTest, FindAChunkUnprovenByAnotherCounter) {
  for (const std::uint64_t before : {2U, 5U}) {
    readings_.on_scan(call);
    read_counter(before);
    read_chunk({live(9), Entry()}, {after(live(9), 5), Entry()});
    read_counter(5);
    end(before == 5);
  }
  expect_violated("reading.unproven-chunk", 9);
}

}  // namespace
}  // namespace falafel::checkers
