// Measures what every operation costs on a quiet store, at several loads of the table, and compares
// it with the table in docs/round-trips.md.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/engine/store.h"

namespace falafel::engine_test {
namespace {

constexpr std::uint64_t measured_entries = 1'024;
constexpr std::array<int, 3> load_percents{10, 50, 75};
constexpr int sample_size = 64;  // keys per average
constexpr std::size_t measured_value_bytes = 24;

// 14 bytes, as in the thesis.
Bytes measured_key(int number) { return bytes_of(fmt::format("key-{:010}", number)); }

struct Cost {
  double round_trips = 0;
  double verbs = 0;
  double bytes = 0;
};

// The costs of one operation, by load.
using Row = std::array<Cost, load_percents.size()>;
using Rows = std::map<std::string, Row, std::less<>>;

// In the order of the table.
constexpr std::array<std::string_view, 11> row_names{"GET of a present key | not cached",
                                                     "GET of a present key | right",
                                                     "GET of a present key | out of date",
                                                     "GET of an absent key | not cached",
                                                     "SET of an existing key | not cached",
                                                     "SET of an existing key | right",
                                                     "SET of an existing key | out of date",
                                                     "SET of a new key | not cached",
                                                     "DELETE | not cached",
                                                     "DELETE | right",
                                                     "DELETE | out of date"};

// One store at one load. `plain` has no location cache, and `cached` one for all keys.
class Measurement {
 public:
  Measurement(std::size_t column, Client& plain, Client& cached, Rows& rows)
      : column_(column), plain_(plain), cached_(cached), rows_(rows) {}

  void run(int keys) {
    for (int number = 0; number < keys; ++number) store(plain_, number);
    note("GET of a present key | not cached", [&](int n) { return plain_.get(measured_key(n)); });
    note("GET of an absent key | not cached",
         [&](int n) { return plain_.get(measured_key(keys + n)); });
    note("SET of an existing key | not cached", [&](int n) { return store(plain_, n); });
    for (int number = 0; number < sample_size; ++number) cached_.get(measured_key(number));
    note("GET of a present key | right", [&](int n) { return cached_.get(measured_key(n)); });
    note("SET of an existing key | right", [&](int n) { return store(cached_, n); });
    overwrite();
    note("GET of a present key | out of date", [&](int n) { return cached_.get(measured_key(n)); });
    overwrite();
    note("SET of an existing key | out of date", [&](int n) { return store(cached_, n); });
    overwrite();
    note_half("DELETE | out of date", 0, [&](int n) { return cached_.remove(measured_key(n)); });
    for (int number = sample_size / 2; number < sample_size; ++number) {
      cached_.get(measured_key(number));
    }
    note_half("DELETE | right", sample_size / 2,
              [&](int n) { return cached_.remove(measured_key(n)); });
    note("DELETE | not cached", [&](int n) {
      store(cached_, n);
      return plain_.remove(measured_key(n));
    });
    note("SET of a new key | not cached", [&](int n) { return store(plain_, keys + n); });
  }

 private:
  static engine::SetResult store(Client& client, int number) {
    return client.set(measured_key(number), Bytes(measured_value_bytes));
  }
  void overwrite() {
    for (int number = 0; number < sample_size; ++number) store(plain_, number);
  }

  template <typename Operation>
  void note(std::string_view name, const Operation& operation) {
    note_range(name, 0, sample_size, operation);
  }
  template <typename Operation>
  void note_half(std::string_view name, int first, const Operation& operation) {
    note_range(name, first, first + sample_size / 2, operation);
  }
  template <typename Operation>
  void note_range(std::string_view name, int begin, int end, const Operation& operation) {
    engine::OperationStatistics sum;
    for (int number = begin; number < end; ++number) sum += operation(number).statistics;
    const auto average = [&](std::uint64_t total) {
      return static_cast<double>(total) / static_cast<double>(end - begin);
    };
    rows_[std::string(name)][column_] = {.round_trips = average(sum.round_trips),
                                         .verbs = average(sum.verbs),
                                         .bytes = average(sum.bytes)};
  }

  std::size_t column_;
  Client& plain_;
  Client& cached_;
  Rows& rows_;
};

enum class References : std::uint8_t { offsets, fingerprints };

void measure(References references, std::size_t column, Rows& rows) {
  fabric::FiberStackPool stacks;
  StoreOptions options;
  options.server.geometry.table_entries = measured_entries;
  // No client fills a region, so neither a collection nor a cleanup changes the table.
  options.server.geometry.region_bytes = 1 << 18;
  options.server.geometry.region_count = 4;
  options.server.geometry.mature_bytes = 1 << 22;
  if (references == References::fingerprints) {
    options.server.geometry = engine::with_spare_bits(options.server.geometry);
  }
  options.server.cleanup_percent = 100;
  TestStore store(options, stacks);
  store.add_client([&](fabric::Host& host, Client& plain) {
    engine::ClientOptions cached_options;
    cached_options.location_cache.entries = 4'096;
    const auto cached = Client::connect(host, store.address(), cached_options);
    ASSERT_TRUE(cached.has_value());
    const int keys = static_cast<int>(measured_entries) * load_percents[column] / 100;
    Measurement(column, plain, **cached, rows).run(keys);
    EXPECT_EQ(plain.statistics().restarts, 0U);
    (*cached)->disconnect();
  });
  const StoreRun run = store.run();
  EXPECT_TRUE(run.problems.empty()) << describe(run);
}

Rows measure(References references) {
  Rows rows;
  for (std::size_t column = 0; column < load_percents.size(); ++column) {
    measure(references, column, rows);
  }
  return rows;
}

std::string table_of(const Rows& rows) {
  std::string text;
  for (const std::string_view name : row_names) {
    text += fmt::format("| {} |", name);
    for (const Cost& cost : rows.find(name)->second) {
      text += fmt::format(" {:.2f} / {:.2f} / {:.0f} |", cost.round_trips, cost.verbs, cost.bytes);
    }
    text += '\n';
  }
  return text;
}

class RoundTripTable : public testing::TestWithParam<References> {};

INSTANTIATE_TEST_SUITE_P(Engine, RoundTripTable,
                         testing::Values(References::offsets, References::fingerprints),
                         [](const auto& parameter) {
                           return parameter.param == References::offsets ? "WithoutFingerprints"
                                                                         : "WithFingerprints";
                         });

TEST_P(RoundTripTable, IsWhatOperationsCost) {
  const Rows rows = measure(GetParam());
  ASSERT_EQ(rows.size(), row_names.size());
  std::ifstream stream(FALAFEL_SOURCE_FOLDER "/docs/round-trips.md");
  std::ostringstream document;
  document << stream.rdbuf();
  EXPECT_NE(document.str().find(table_of(rows)), std::string::npos)
      << "docs/round-trips.md lacks these rows:\n"
      << table_of(rows);
}

// A right location makes every operation take one round trip, whatever the load.
TEST_P(RoundTripTable, HasOneRoundTripForRightLocations) {
  for (const auto& [name, row] : measure(GetParam())) {
    if (!name.ends_with("| right")) continue;
    for (const Cost& cost : row) EXPECT_EQ(cost.round_trips, 1) << name;
  }
}

// With fingerprints, a search reads about one container of the right length, or none.
TEST(RoundTripTableWithFingerprints, HasTwoRoundTripsForSearchesAtAnyLoad) {
  const Rows rows = measure(References::fingerprints);
  for (const Cost& cost : rows.at("GET of a present key | not cached")) {
    EXPECT_EQ(cost.round_trips, 2);
    EXPECT_LT(cost.verbs, 2.1);
  }
  for (const Cost& cost : rows.at("GET of an absent key | not cached")) {
    EXPECT_LE(cost.round_trips, 2);
    EXPECT_LE(cost.verbs, 2);
  }
}

}  // namespace
}  // namespace falafel::engine_test
