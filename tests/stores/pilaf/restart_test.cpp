// A server that restarts from its log.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/stores/pilaf/bytes.h"
#include "tests/stores/pilaf/store.h"

namespace falafel::pilaf_test {
namespace {

using pilaf::Answer;
using pilaf::Client;
using pilaf::Logging;

constexpr std::uint64_t long_delay_ns = millisecond_ns;

StoreOptions logging_store(Logging log) {
  StoreOptions store;
  store.options.log = log;
  store.options.log_delay_ns = long_delay_ns;
  store.options.safeguards = pilaf::Safeguards::hardened();
  return store;
}

void restart(TestStore& store) {
  store.simulation().crash("server");
  store.simulation().restart("server");
}

void expect_value(Client& client, const std::string& key, const std::string& value) {
  const auto result = client.get(bytes_of(key));
  EXPECT_EQ(result.answer, Answer::found) << key;
  EXPECT_EQ(text_of(result.value), value);
}

void wait_for_log(fabric::Host& host) { host.sleep_until(host.now_ns() + 5 * long_delay_ns); }

TEST(Restart, FindsWhatTheLogHasWritten) {
  TestStore store(logging_store(Logging::asynchronous));
  store.add_client([&](fabric::Host& host, Client& client) {
    client.set(bytes_of("kept"), bytes_of("old"));
    client.set(bytes_of("kept"), bytes_of("new"));
    client.set(bytes_of("removed"), bytes_of("value"));
    client.remove(bytes_of("removed"));
    wait_for_log(host);
    restart(store);
    expect_value(client, "kept", "new");
    EXPECT_EQ(client.get(bytes_of("removed")).answer, Answer::not_found);
    EXPECT_EQ(client.statistics().reconnections, 1U);
    EXPECT_EQ(client.set(bytes_of("kept"), bytes_of("later")).answer, Answer::stored);
    expect_value(client, "kept", "later");
  });
  const StoreRun run = store.run();
  EXPECT_EQ(describe(run), "");
  EXPECT_EQ(run.server.log.replayed, 4U);
}

TEST(Restart, LosesWhatTheLogHasNotWritten) {
  TestStore store(logging_store(Logging::asynchronous));
  store.add_client([&](fabric::Host& host, Client& client) {
    client.set(bytes_of("kept"), bytes_of("value"));
    wait_for_log(host);
    EXPECT_EQ(client.set(bytes_of("lost"), bytes_of("value")).answer, Answer::stored);
    restart(store);
    EXPECT_EQ(client.get(bytes_of("lost")).answer, Answer::not_found);
    expect_value(client, "kept", "value");
  });
  EXPECT_EQ(describe(store.run()), "");
}

TEST(Restart, LosesNoAnsweredChangeOfASynchronousLog) {
  TestStore store(logging_store(Logging::synchronous));
  store.add_client([&](fabric::Host&, Client& client) {
    EXPECT_EQ(client.set(bytes_of("key"), bytes_of("value")).answer, Answer::stored);
    restart(store);
    expect_value(client, "key", "value");
    EXPECT_EQ(client.remove(bytes_of("key")).answer, Answer::deleted);
    restart(store);
    EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::not_found);
    EXPECT_EQ(client.remove(bytes_of("key")).answer, Answer::not_found);
  });
  const StoreRun run = store.run();
  EXPECT_EQ(describe(run), "");
  EXPECT_EQ(run.server.log.replayed, 2U);
}

// One client changes a key, and the server dies when another one has read the change.
Answer read_again_after_restart(bool writes_ahead) {
  StoreOptions options = logging_store(Logging::synchronous);
  options.options.safeguards.write_ahead = writes_ahead;
  TestStore store(options);
  store.add_client(
      [](fabric::Host&, Client& client) { client.set(bytes_of("key"), bytes_of("value")); });
  Answer answer = Answer::disconnected;
  store.add_client([&](fabric::Host&, Client& client) {
    while (client.get(bytes_of("key")).answer == Answer::not_found) continue;
    restart(store);
    answer = client.get(bytes_of("key")).answer;
  });
  EXPECT_EQ(describe(store.run()), "");
  return answer;
}

TEST(Restart, LosesAChangeThatWasReadUnlessTheLogIsWrittenFirst) {
  EXPECT_EQ(read_again_after_restart(true), Answer::found);
  EXPECT_EQ(read_again_after_restart(false), Answer::not_found);
}

TEST(Restart, DisconnectsClientsOfAServerWithoutLog) {
  TestStore store(logging_store(Logging::off));
  store.add_client([&](fabric::Host&, Client& client) {
    client.set(bytes_of("key"), bytes_of("value"));
    restart(store);
    EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::disconnected);
  });
  EXPECT_EQ(describe(store.run()), "");
}

// The server may have carried out the change. To send it again could do it twice.
TEST(Restart, MakesTheOutcomeOfAPendingChangeUnknown) {
  StoreOptions options = logging_store(Logging::asynchronous);
  options.options.put_on_reset = pilaf::PutOnReset::send_again;
  options.options.server_timeout_ns = 10 * long_delay_ns;
  TestStore store(options);
  store.add_client([&](fabric::Host&, Client& client) {
    store.simulation().pause("server", 100 * long_delay_ns);
    EXPECT_EQ(client.set(bytes_of("key"), bytes_of("value")).answer, Answer::unknown_outcome);
  });
  store.add_host("restarter", [&](fabric::Host& host) {
    host.sleep_until(host.now_ns() + 2 * long_delay_ns);
    restart(store);
  });
  EXPECT_EQ(describe(store.run()), "");
}

TEST(Restart, RefusesChangesWhenTheLogIsFull) {
  StoreOptions options = logging_store(Logging::asynchronous);
  options.options.log_bytes = pilaf::log_header_bytes + pilaf::log_record_bytes_of(3, 5);
  TestStore store(options);
  store.add_client([&](fabric::Host& host, Client& client) {
    EXPECT_EQ(client.set(bytes_of("key"), bytes_of("value")).answer, Answer::stored);
    EXPECT_EQ(client.set(bytes_of("key"), bytes_of("other")).answer, Answer::out_of_memory);
    wait_for_log(host);
    EXPECT_EQ(client.remove(bytes_of("key")).answer, Answer::out_of_memory);
    expect_value(client, "key", "value");
    restart(store);
    expect_value(client, "key", "value");
  });
  EXPECT_EQ(describe(store.run()), "");
}

// A server that cannot grow refuses a change that it has logged.
TEST(Restart, DoesNotFindRefusedChanges) {
  StoreOptions options = logging_store(Logging::synchronous);
  options.options.log_delay_ns = 0;
  options.options.extents_bytes = 256;
  options.server_max_registrations = 3;  // the two areas, and the buffers of one client
  TestStore store(options);
  store.add_client([&](fabric::Host&, Client& client) {
    int stored = 0;
    while (client.set(bytes_of(std::to_string(stored)), {}).answer == Answer::stored) ++stored;
    EXPECT_EQ(stored, 4);
    restart(store);
    for (int key = 0; key < stored; ++key) expect_value(client, std::to_string(key), "");
    EXPECT_EQ(client.get(bytes_of(std::to_string(stored))).answer, Answer::not_found);
  });
  EXPECT_EQ(describe(store.run()), "");
}

// Random changes and restarts.

using Contents = std::map<std::string, std::string>;

struct DrawnStep {
  int kind = 0;  // 0, 1: PUT; 2: DELETE; 3: restart
  int key = 0;
  int value = 0;
};

class RestartingWorker {
 public:
  RestartingWorker(TestStore& store, Client& client, bool may_lose)
      : store_(store), client_(client), may_lose_(may_lose) {}

  void run(const DrawnStep& step) {
    if (step.kind == 3) return restart_and_compare();
    const std::string key = std::to_string(step.key);
    Contents next = states_.back();
    if (step.kind == 2) {
      EXPECT_EQ(client_.remove(bytes_of(key)).answer,
                next.erase(key) > 0 ? Answer::deleted : Answer::not_found);
    } else {
      next[key] = std::string(static_cast<std::size_t>(1 + step.value), 'v');
      EXPECT_EQ(client_.set(bytes_of(key), bytes_of(next[key])).answer, Answer::stored);
    }
    states_.push_back(next);
  }

 private:
  // The contents are those after some of the changes since the last restart, without a gap.
  void restart_and_compare() {
    restart(store_);
    Contents contents;
    for (int key = 0; key < 6; ++key) {
      const auto found = client_.get(bytes_of(std::to_string(key)));
      if (found.answer == Answer::found) contents[std::to_string(key)] = text_of(found.value);
    }
    if (may_lose_) {
      EXPECT_NE(std::ranges::find(states_, contents), states_.end());
    } else {
      EXPECT_EQ(states_.back(), contents);
    }
    states_ = {contents};
  }

  TestStore& store_;
  Client& client_;
  bool may_lose_;
  std::vector<Contents> states_{Contents()};
};

RC_GTEST_PROP(Restart, FindsTheContentsAfterSomeOfTheChanges, ()) {
  StoreOptions options =
      logging_store(*rc::gen::element(Logging::asynchronous, Logging::synchronous));
  options.options.log_delay_ns = *rc::gen::element<std::uint64_t>(0, 1'000, 20'000, 200'000);
  options.options.table_entries = *rc::gen::element<std::uint64_t>(1, 4, 64);
  options.options.extents_bytes = *rc::gen::element<std::uint64_t>(64, 4'096);
  options.options.put_on_reset = pilaf::PutOnReset::send_again;
  options.seed = *rc::gen::arbitrary<std::uint64_t>();
  options.simulation.processor_preemption = *rc::gen::arbitrary<bool>();
  options.simulation.store_buffers = *rc::gen::arbitrary<bool>();
  const auto steps = *rc::gen::container<std::vector<DrawnStep>>(rc::gen::exec([] {
    return DrawnStep{.kind = *rc::gen::inRange(0, 4),
                     .key = *rc::gen::inRange(0, 6),
                     .value = *rc::gen::inRange(0, 50)};
  }));
  TestStore store(options);
  store.add_client([&](fabric::Host&, Client& client) {
    RestartingWorker worker(store, client, options.options.log == Logging::asynchronous);
    for (const DrawnStep& step : steps) worker.run(step);
  });
  RC_ASSERT(store.run().problems == std::vector<std::string>());
  RC_ASSERT(!testing::Test::HasFailure());
}

}  // namespace
}  // namespace falafel::pilaf_test
