// Messages that are lost, and requests that are sent again, on UC and UD.
#include <gtest/gtest.h>

#include "tests/stores/two_sided/bytes.h"
#include "tests/stores/two_sided/store.h"

namespace falafel::two_sided_test {
namespace {

using fabric::Transport;
using two_sided::Answer;
using two_sided::Client;
using two_sided::OperationStatistics;
using two_sided::Repost;
using two_sided::Safeguards;
using two_sided::Waiting;

class Losses : public testing::TestWithParam<Transport> {
 protected:
  StoreOptions options(std::uint64_t seed) const {
    StoreOptions store{.seed = seed};
    store.options.transport = GetParam();
    return store;
  }
};
INSTANTIATE_TEST_SUITE_P(Each, Losses,
                         testing::Values(Transport::unreliable_connection,
                                         Transport::unreliable_datagram));

// Sets and reads a key again and again.
void work(Client& client) {
  for (int round = 0; round < 20; ++round) {
    const Bytes value = bytes_of(std::to_string(round));
    ASSERT_EQ(client.set(bytes_of("key"), value).answer, Answer::stored);
    ASSERT_EQ(client.get(bytes_of("key")).value, value);
  }
}

TEST_P(Losses, AreMadeGoodByRepetition) {
  OperationStatistics sum;
  std::uint64_t repeated = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    StoreOptions store = options(seed);
    store.simulation.set_fault_rate(sim::FaultKind::unreliable_loss, 4);
    TestStore lossy(store);
    lossy.add_client([&](fabric::Host&, Client& client) {
      work(client);
      sum += client.statistics();
    });
    const StoreRun run = lossy.run();
    EXPECT_EQ(describe(run), "") << "seed " << seed;
    repeated += run.server.statistics.requests_repeated;
  }
  EXPECT_GT(sum.repetitions, 0U);
  EXPECT_EQ(sum.verbs, sum.round_trips + sum.repetitions);
  EXPECT_GT(repeated, 0U);
}

TEST_P(Losses, StopThePublishedClientThatBlocks) {
  StoreOptions store = options(1);
  store.options.safeguards = Safeguards::published();
  store.simulation.set_fault_rate(sim::FaultKind::unreliable_loss, 4);
  TestStore lossy(store);
  lossy.add_client([](fabric::Host&, Client& client) { work(client); });
  EXPECT_NE(lossy.run().result.outcome, sim::Outcome::completed);
}

// A client that polls sends its request again, and ends when its receive queue is full.
TEST_P(Losses, MakeThePublishedClientThatPollsRepeatAndEnd) {
  StoreOptions store = options(1);
  store.options.safeguards = Safeguards::published();
  store.options.waiting = Waiting::polling;
  store.simulation.set_fault_rate(sim::FaultKind::unreliable_loss, 1);
  store.options.repetition_interval_ns = 5 * microsecond_ns;
  TestStore lossy(store);
  lossy.add_client([](fabric::Host&, Client& client) {
    EXPECT_EQ(client.set(bytes_of("key"), bytes_of("value")).answer, Answer::unknown_outcome);
    EXPECT_EQ(client.statistics().repetitions, 7U);
    EXPECT_EQ(client.get(bytes_of("key")).answer, Answer::disconnected);
  });
  lossy.run();
}

// A worker with one receive request sends the response first, so the next request may find none.
TEST_P(Losses, HappenWithoutTheNetworkIfOneReceiveIsPosted) {
  std::uint64_t stopped = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    for (const std::uint32_t posted : {1U, 5U}) {
      StoreOptions store = options(seed);
      store.options.safeguards = Safeguards::published();
      store.options.posted_receives = posted;
      store.options.repost = Repost::after_reply;
      // The test's server looks at its clients again and again, so a run has no end without it.
      store.simulation.step_limit = 20'000;
      TestStore lossless(store);
      lossless.add_client([](fabric::Host&, Client& client) { work(client); });
      const bool has_completed = lossless.run().result.outcome == sim::Outcome::completed;
      if (posted > 1) {
        EXPECT_TRUE(has_completed) << "seed " << seed;
      } else if (!has_completed) {
        ++stopped;
      }
    }
  }
  EXPECT_GT(stopped, 0U);
}

TEST_P(Losses, ResponsesToEarlierRequestsAreDropped) {
  std::uint64_t stale_responses = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    StoreOptions store = options(seed);
    store.options.repetition_interval_ns = 1;
    TestStore eager(store);
    eager.add_client([&](fabric::Host&, Client& client) {
      work(client);
      stale_responses += client.statistics().stale_responses;
    });
    EXPECT_EQ(describe(eager.run()), "") << "seed " << seed;
  }
  EXPECT_GT(stale_responses, 0U);
}

TEST_P(Losses, ALastRequestThatIsSentAgainEndsOneWorker) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    StoreOptions store = options(seed);
    store.options.repetition_interval_ns = 1;
    TestStore eager(store);
    for (int client = 0; client < 3; ++client) {
      eager.add_client([](fabric::Host&, Client& connected) {
        EXPECT_EQ(connected.ping().answer, Answer::found);
        connected.close();
      });
    }
    EXPECT_EQ(describe(eager.run()), "") << "seed " << seed;
  }
}

// Two requests arrive at about the same time and raise one event, so one of two workers goes on
// waiting, and so does its client.
TEST(DatagramsThatBlock, HangThePublishedProgramWithoutALoss) {
  std::uint64_t hangs = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    for (const Waiting waiting : {Waiting::blocking_on_events, Waiting::blocking}) {
      StoreOptions store{.seed = seed};
      store.options.safeguards = Safeguards::published();
      store.options.waiting = waiting;
      store.options.safeguards.waiting_locks = true;
      store.options.transport = Transport::unreliable_datagram;
      store.options.posted_receives = 16;
      store.simulation.step_limit = 20'000;
      TestStore lossless(store);
      for (const char* const key : {"one", "two", "three"}) {
        lossless.add_client([key](fabric::Host&, Client& client) {
          for (int round = 0; round < 20; ++round) client.set(bytes_of(key), bytes_of("value"));
        });
      }
      const bool has_completed = lossless.run().result.outcome == sim::Outcome::completed;
      if (waiting == Waiting::blocking) {
        EXPECT_TRUE(has_completed) << "seed " << seed;
      } else if (!has_completed) {
        ++hangs;
      }
    }
  }
  EXPECT_GT(hangs, 0U);
}

}  // namespace
}  // namespace falafel::two_sided_test
