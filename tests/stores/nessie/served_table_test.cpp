// The tables of a node as its workers change them.
#include "stores/nessie/served_table.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "stores/nessie/invariants.h"
#include "tests/stores/nessie/bytes.h"
#include "tests/stores/nessie/cluster.h"
#include "tests/stores/nessie/one_host.h"

namespace falafel::nessie_test {
namespace {

using nessie::Answer;
using nessie::Architecture;
using nessie::Options;
using nessie::ServedTable;

Options served_options(Architecture architecture) {
  Options options = small_options();
  options.architecture = architecture;
  options.index_entries = 8;
  options.slots_per_lock = 1;
  options.most_migrations = 4;
  options.filter_bits = 0;
  options.expiration_ns = 100 * microsecond_ns;
  options.emptied = nessie::EmptyWord::keeps_dte;
  return options;
}

// A node's tables without a node, and their problems at the end.
struct Tables {
  Tables(fabric::Host& host, const Options& options)
      : layout(options.index_entries, options.data_entries,
               {options.most_key_bytes, options.most_value_bytes}),
        block(host.allocate_memory(layout.block_bytes()).value()),
        data(host, block, layout, 0, options),
        table(host, block, layout, 0, 1, data, options),
        options_(options) {
    for (std::uint64_t index = 0; index < options.index_entries; ++index) {
      block->store(layout.index_offset(index), nessie::empty_word);
    }
  }
  std::vector<std::string> problems() const {
    const std::vector<nessie::NodeInspection> nodes{
        {.layout = layout, .memory = block, .books = data.shared_books(), .service = nullptr}};
    return nessie::find_problems(nodes, options_, {});
  }

  nessie::NodeLayout layout;
  std::shared_ptr<fabric::MemoryBlock> block;
  nessie::DataTable data;
  ServedTable table;
  Options options_;
};

nessie::Bytes key_of(std::uint64_t number) { return bytes_of("key " + std::to_string(number)); }

class ServedTables : public testing::TestWithParam<Architecture> {};
INSTANTIATE_TEST_SUITE_P(Each, ServedTables,
                         testing::Values(Architecture::server_driven, Architecture::hybrid));

// As many keys as fit, one after the other: entries move, and nothing is lost.
TEST_P(ServedTables, MakeRoomByMoving) {
  on_one_host([&](fabric::Host& host) {
    Tables tables(host, served_options(GetParam()));
    std::map<std::uint64_t, nessie::Bytes> stored;
    bool was_full = false;
    for (std::uint64_t number = 0; number < 20; ++number) {
      const nessie::Bytes value = bytes_of(std::to_string(number));
      const Answer answer = tables.table.put(key_of(number), value);
      EXPECT_TRUE(answer == Answer::stored || answer == Answer::table_full) << to_string(answer);
      was_full |= answer == Answer::table_full;
      if (answer == Answer::stored) stored[number] = value;
      for (const auto& [other, expected] : stored) {
        EXPECT_EQ(tables.table.get(key_of(other)), expected);
      }
    }
    EXPECT_GT(tables.table.moves(), 0U);
    EXPECT_TRUE(was_full);
    EXPECT_GE(stored.size(), 6U);
    EXPECT_EQ(tables.problems(), std::vector<std::string>{});
    for (const auto& [number, value] : stored) {
      EXPECT_EQ(tables.table.remove(key_of(number)), Answer::deleted);
      EXPECT_EQ(tables.table.remove(key_of(number)), Answer::not_found);
    }
    EXPECT_EQ(tables.problems(), std::vector<std::string>{});
  });
}

// In NessieSD, a DTE that was replaced is free at once; in NessieHY, after its expiry.
TEST_P(ServedTables, UseReplacedEntriesAgain) {
  on_one_host([&](fabric::Host& host) {
    Options options = served_options(GetParam());
    options.data_entries = 2;
    Tables tables(host, options);
    EXPECT_EQ(tables.table.put(key_of(0), bytes_of("a")), Answer::stored);
    EXPECT_EQ(tables.table.put(key_of(0), bytes_of("b")), Answer::stored);
    const Answer third = tables.table.put(key_of(0), bytes_of("c"));
    EXPECT_EQ(third, options.is_hybrid() ? Answer::out_of_memory : Answer::stored);
    EXPECT_EQ(tables.table.get(key_of(0)), bytes_of(options.is_hybrid() ? "b" : "c"));
    host.sleep_until(host.now_ns() + options.expiration_ns + microsecond_ns);
    EXPECT_EQ(tables.table.put(key_of(0), bytes_of("d")), Answer::stored);
    EXPECT_EQ(tables.problems(), std::vector<std::string>{});
  });
}

// Workers whose chains of moves need each other's groups.
TEST_P(ServedTables, StayWellFormedUnderSeveralWorkers) {
  std::uint64_t moves = 0;
  std::uint64_t waits = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    on_one_host(
        [&](fabric::Host& host) {
          Tables tables(host, served_options(GetParam()));
          std::vector<fabric::FiberId> workers;
          for (std::uint64_t worker = 0; worker < 3; ++worker) {
            workers.push_back(host.spawn({}, [&, worker] {
              for (std::uint64_t number = worker; number < 24; number += 3) {
                const nessie::Bytes key = key_of(number % 9);
                const Answer answer = tables.table.put(key, bytes_of("value"));
                EXPECT_TRUE(answer == Answer::stored || answer == Answer::table_full);
                if (number % 4 == 3) tables.table.remove(key);
              }
            }));
          }
          for (const auto worker : workers) host.join(worker);
          EXPECT_EQ(tables.problems(), std::vector<std::string>{});
          moves += tables.table.moves();
          waits += tables.table.lock_waits();
        },
        seed);
  }
  EXPECT_GT(moves, 0U);
  EXPECT_GT(waits, 0U);
}

}  // namespace
}  // namespace falafel::nessie_test
