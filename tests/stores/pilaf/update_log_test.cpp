// The log alone: records that are replayed, and what a process that ends leaves behind.
#include "stores/pilaf/update_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "fabric/fiber_stack.h"
#include "fabric/sim/simulation.h"
#include "fabric/sim/strategies/make_strategy.h"
#include "tests/stores/pilaf/bytes.h"
#include "tests/stores/pilaf/store.h"

namespace falafel::pilaf_test {
namespace {

using pilaf::LoggedChange;
using pilaf::RequestKind;
using pilaf::UpdateLog;
using Replayed = std::vector<std::string>;

constexpr std::uint64_t log_bytes = 1'024;

pilaf::Options log_options() {
  pilaf::Options options = Types::small_options();
  options.log_bytes = log_bytes;
  options.safeguards = pilaf::Safeguards::hardened();
  return options;
}

void on_a_server(const std::function<void(fabric::Host&)>& body) {
  fabric::FiberStackPool stacks;
  const sim::SimulationOptions options;
  const auto strategy = sim::make_strategy(options, 1);
  sim::Simulation simulation(options, *strategy, stacks);
  simulation.add_host({.name = "server", .role = sim::Role::server}, body);
  ASSERT_EQ(simulation.run().outcome, sim::Outcome::completed);
}

void append(UpdateLog& log, const std::string& key, const Bytes& value) {
  log.append({.kind = RequestKind::put, .key = bytes_of(key), .value = value});
}
void append(UpdateLog& log, const std::string& key, const std::string& value) {
  append(log, key, bytes_of(value));
}

std::string describe(const LoggedChange& change) {
  const std::string key = text_of({change.key.begin(), change.key.end()});
  if (change.kind == RequestKind::remove) return key + " removed";
  return key + " = " + text_of({change.value.begin(), change.value.end()});
}

Replayed replay(UpdateLog& log) {
  Replayed changes;
  EXPECT_TRUE(log.replay([&](const LoggedChange& change) {
    changes.push_back(describe(change));
    return true;
  }));
  return changes;
}

// Two processes of the host, one after the other. The second one finds what the first one has left.
struct Lives {
  std::function<void(UpdateLog&)> first;
  // Changes the bytes of the records before the second one.
  std::function<void(std::span<std::byte> records)> damage = [](std::span<std::byte>) {};
  pilaf::Options options = log_options();
};

void damage_records(fabric::Host& host, const Lives& lives) {
  const auto kept = host.keep_memory(lives.options.log_name, lives.options.log_bytes).value();
  EXPECT_FALSE(kept.is_new);
  lives.damage(kept.block->bytes().subspan(pilaf::log_header_bytes));
}

Replayed live(const Lives& lives, const std::function<void(UpdateLog&)>& second = {}) {
  Replayed replayed;
  on_a_server([&](fabric::Host& host) {
    {
      const auto log = UpdateLog::open(host, lives.options).value();
      EXPECT_EQ(replay(*log), Replayed());
      lives.first(*log);
    }
    damage_records(host, lives);
    const auto log = UpdateLog::open(host, lives.options).value();
    replayed = replay(*log);
    if (second) second(*log);
  });
  return replayed;
}

void log_two(UpdateLog& log) {
  append(log, "a", "1");
  append(log, "b", "2");
  log.flush();
}
// The length of a record with a key and a value that fit one word.
constexpr std::uint64_t short_record_bytes = pilaf::log_record_bytes_of(1, 1);

TEST(UpdateLog, ReplaysWhatWasWrittenInOrder) {
  const auto replayed = live({.first = [](UpdateLog& log) {
    append(log, "a", "1");
    log.append({.kind = RequestKind::remove, .key = bytes_of("a"), .value = {}});
    log.flush();
    append(log, "a", "3");
    append(log, "b", Bytes());
    log.flush();
    append(log, "c", "lost");
    EXPECT_EQ(log.statistics().appended, 5U);
    EXPECT_EQ(log.statistics().durable, 4U);
  }});
  EXPECT_EQ(replayed, (Replayed{"a = 1", "a removed", "a = 3", "b = "}));
}

TEST(UpdateLog, ContinuesBehindTheReplayedRecords) {
  const Lives lives{.first = log_two};
  on_a_server([&](fabric::Host& host) {
    std::uint64_t incarnation = 0;
    for (std::uint64_t run = 0; run < 3; ++run) {
      const auto log = UpdateLog::open(host, lives.options).value();
      EXPECT_EQ(replay(*log).size(), 2 * run);
      if (run == 0) incarnation = log->incarnation();
      EXPECT_EQ(log->incarnation(), incarnation);
      EXPECT_EQ(log->run(), run);
      log_two(*log);
    }
  });
}

TEST(UpdateLog, DoesNotReplayAPartOfARecord) {
  const auto damage = [](std::span<std::byte> records) {
    const std::uint64_t value_at = short_record_bytes + pilaf::log_record_header_bytes;
    std::memset(records.data() + value_at, 0, fabric::word_bytes);
  };
  const auto expect_part = [](UpdateLog& log) { EXPECT_TRUE(log.statistics().found_part); };
  Lives lives{.first = log_two, .damage = damage};
  EXPECT_EQ(live(lives, expect_part), (Replayed{"a = 1"}));
  lives.options.safeguards.record_checksums = false;
  const std::string zero(1, '\0');
  EXPECT_EQ(live(lives), (Replayed{"a = 1", zero + " = " + zero}));
}

TEST(UpdateLog, DoesNotReplayRecordsInAnotherOrder) {
  const auto swap = [](std::span<std::byte> records) {
    std::swap_ranges(records.begin(), records.begin() + short_record_bytes,
                     records.begin() + short_record_bytes);
  };
  EXPECT_EQ(live({.first = log_two, .damage = swap}), Replayed());
}

// The value of a record that is there in part looks like the record behind a shorter one.
TEST(UpdateLog, ErasesThePartOfARecord) {
  const Bytes key = bytes_of("f");
  const LoggedChange forged{.kind = RequestKind::put, .key = key, .value = {}};
  Bytes value(fabric::word_bytes - 1);  // the key is the first byte of that word
  const auto record = pilaf::make_log_record(forged, 2, {});
  value.insert(value.end(), record.begin(), record.end());
  Lives lives{.first = [&](UpdateLog& log) {
    append(log, "a", value);
    log.flush();
  }};
  lives.damage = [](std::span<std::byte> records) {
    std::memset(records.data() + offsetof(pilaf::LogRecordHeader, crc), 0, fabric::word_bytes);
  };
  on_a_server([&](fabric::Host& host) {
    {
      const auto log = UpdateLog::open(host, lives.options).value();
      replay(*log);
      lives.first(*log);
    }
    damage_records(host, lives);
    {
      const auto log = UpdateLog::open(host, lives.options).value();
      EXPECT_EQ(replay(*log), Replayed());
      append(*log, "b", "2");
      log->flush();
    }
    const auto log = UpdateLog::open(host, lives.options).value();
    EXPECT_EQ(replay(*log), (Replayed{"b = 2"}));
  });
}

TEST(UpdateLog, DoesNotReplayARecordThatWasTakenBack) {
  const auto replayed = live({.first = [](UpdateLog& log) {
    log_two(log);
    log.take_back_last();
    append(log, "c", "3");
    log.flush();
  }});
  EXPECT_EQ(replayed, (Replayed{"a = 1", "c = 3"}));
}

TEST(UpdateLog, HasRoomForWhatFits) {
  on_a_server([](fabric::Host& host) {
    pilaf::Options options = log_options();
    options.log_bytes = pilaf::log_header_bytes + 2 * short_record_bytes;
    const auto log = UpdateLog::open(host, options).value();
    const Bytes key = bytes_of("k");
    const LoggedChange change{.kind = RequestKind::remove, .key = key, .value = {}};
    EXPECT_EQ(replay(*log), Replayed());
    EXPECT_TRUE(log->has_room_for(change));
    log->append(change);
    EXPECT_TRUE(log->has_room_for(change));
    log->flush();
    EXPECT_TRUE(log->has_room_for(change));
    log->append(change);
    EXPECT_FALSE(log->has_room_for(change));
  });
}

}  // namespace
}  // namespace falafel::pilaf_test
