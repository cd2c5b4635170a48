// Rules 6 to 9: order among READs, the fence, a CAS after WRITEs, and several queue pairs.
#include <gtest/gtest.h>

#include "tests/litmus/litmus.h"

namespace falafel::litmus {
namespace {

// The processor stores to y, then to x; the client READs x, then y.
Litmus two_stores_meet_two_reads(bool fence) {
  Litmus litmus;
  litmus.server = [](Party& server) {
    server.store(y, 1);
    server.store(x, 1);
  };
  litmus.clients = {[fence](Party& client) {
    const auto first = client.read(x);
    const auto second = client.read(y);
    client.post({first, fence ? fenced(second) : second});
    client.finish();
    client.trial().seen[0] = client.result(first);
    client.trial().seen[1] = client.result(second);
  }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {{0x00, "before the stores"},
                    {0x01, "between the stores, or around one of them"},
                    {0x11, "after the stores"}};
  return litmus;
}

}  // namespace

TEST(Litmus, Rule06_reads_sample_out_of_order) {
  Litmus litmus = two_stores_meet_two_reads(false);
  litmus.allowed.push_back({0x10, "the second READ sampled before the first"});
  verify(litmus);
}

TEST(Litmus, Rule07_fenced_read_waits_for_read) {
  Litmus litmus = two_stores_meet_two_reads(true);
  litmus.forbidden = "a fenced READ that samples before an earlier one";
  verify(litmus);
}

// The fence covers all earlier requests, not only the last one, whether posted together or not.
TEST(Litmus, Rule07_fence_waits_for_all_earlier) {
  Litmus litmus;
  litmus.clients = {[](Party& client) {
    const auto sample = client.read(x);
    const auto swap = client.compare_and_swap(x + 1, 0, 1);
    const auto add = client.fetch_and_add(y, 1);
    const auto write = fenced(client.write(x, {5, 5, 5}));
    if (client.host().random(2) == 0) {
      client.post({sample, swap, add, write});
    } else {
      client.post({sample, swap, add});
      client.post({write});
    }
    client.finish();
    client.trial().seen[0] = client.result(sample);
    client.trial().seen[1] = client.result(swap);
    client.trial().seen[2] = client.result(add);
  }};
  litmus.outcome = [](Trial& trial) {
    return seen_digits(trial, 3) << 8U | digits(trial.final_word(x + 1), trial.final_word(y));
  };
  litmus.allowed = {{0x00055, "READ and atomics before the fenced WRITE"}};
  litmus.forbidden = "a fenced WRITE before one of several READs and atomics";
  verify(litmus);
}

TEST(Litmus, Rule07_fence_holds_what_is_behind_it) {
  Litmus litmus;
  litmus.clients = {[](Party& client) {
    const auto sample = client.read(x);
    client.post({sample, fenced(client.write(y, {1})), client.write(x, {1})});
    client.finish();
    client.trial().seen[0] = client.result(sample);
  }};
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[0], trial.final_word(y)); };
  litmus.allowed = {{0x01, "the READ comes before both WRITEs"}};
  litmus.forbidden = "a WRITE behind a fenced one that overtakes a READ";
  verify(litmus);
}

TEST(Litmus, Rule07_fence_is_refused_where_nothing_returns_data) {
  Litmus litmus;
  litmus.stage.queue_pair.transport = fabric::Transport::unreliable_connection;
  litmus.clients = {[](Party& client) {
    const auto refused = client.try_post({fenced(client.write(x, {1}))});
    client.trial().seen[0] =
        !refused && refused.error().code == fabric::ErrorCode::invalid_argument;
  }};
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[0], trial.final_word(x)); };
  litmus.allowed = {{0x10, "refused as an invalid argument"}};
  verify(litmus);
}

namespace {

// A WRITE of two words to x, then an atomic on y. Tests which words of x an observer of y finds.
Litmus writes_then_atomic() {
  Litmus litmus;
  litmus.clients = {[](Party& client) {
    const bool add = client.host().random(2) == 0;
    const auto atomic = add ? client.fetch_and_add(y, 1) : client.compare_and_swap(y, 0, 1);
    client.post({client.write(x, {1, 1}), atomic});
    client.finish();
  }};
  litmus.outcome = [](Trial& trial) {
    return digits(trial.seen[0], trial.seen[1] + trial.seen[2]);
  };
  litmus.allowed = {{0x00, "neither in time"},
                    {0x01, "a part of the WRITE in time"},
                    {0x02, "the WRITE in time"},
                    {0x12, "both in time"}};
  litmus.forbidden = "an atomic that is visible before all of an earlier WRITE";
  return litmus;
}

}  // namespace

TEST(Litmus, Rule08_atomic_after_writes_as_the_processor_sees_it) {
  Litmus litmus = writes_then_atomic();
  litmus.server = [](Party& server) {
    server.trial().seen[0] = server.load(y);
    server.trial().seen[1] = server.load(x);
    server.trial().seen[2] = server.load(x + 1);
  };
  verify(litmus);
}

TEST(Litmus, Rule08_atomic_after_writes_as_another_client_sees_it) {
  Litmus litmus = writes_then_atomic();
  litmus.stage.client_count = 2;
  litmus.clients.emplace_back([](Party& client) {
    const auto flag = client.read(y);
    client.post({flag});
    client.finish();
    const auto data = client.read(x, 2);
    client.post({data});
    client.finish();
    client.trial().seen[0] = client.result(flag);
    client.trial().seen[1] = client.result(data, 0);
    client.trial().seen[2] = client.result(data, 1);
  });
  verify(litmus);
}

TEST(Litmus, Rule08_atomic_works_on_what_was_written) {
  Litmus litmus;
  litmus.clients = {[](Party& client) {
    const auto add = client.fetch_and_add(x, 1);
    client.post({client.write(x, {5}), add});
    client.finish();
    client.trial().seen[0] = client.result(add);
  }};
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[0], trial.final_word(x)); };
  litmus.allowed = {{0x56, "WRITE before FETCH_ADD"}};
  litmus.forbidden = "a FETCH_ADD before an earlier WRITE of its word";
  verify(litmus);
}

TEST(Litmus, Rule09_writes_of_two_queue_pairs) {
  Litmus litmus;
  litmus.stage.connections_per_client = 2;
  litmus.server = [](Party& server) {
    server.trial().seen[1] = server.load(y);
    server.trial().seen[0] = server.load(x);
  };
  litmus.clients = {[](Party& client) {
    client.post({client.write(x, {1})}, 0);
    client.post({client.write(y, {1})}, 1);
  }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {{0x00, "neither in time"},
                    {0x10, "the first WRITE in time"},
                    {0x01, "the second WRITE overtook the first"},
                    {0x11, "both in time"}};
  verify(litmus);
}

TEST(Litmus, Rule09_read_on_another_queue_pair) {
  Litmus litmus;
  litmus.stage.connections_per_client = 2;
  litmus.clients = {[](Party& client) {
    const auto sample = client.read(x);
    const auto swap = client.compare_and_swap(x, 0, 2);
    client.post({client.write(x, {1})}, 0);
    client.post({sample, swap}, 1);
    client.finish();
    client.trial().seen[0] = client.result(sample);
    client.trial().seen[1] = client.result(swap);
  }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {{0x00, "READ and CAS overtook the WRITE"},
                    {0x01, "the READ overtook it"},
                    {0x11, "neither did"},
                    {0x10, "the CAS overtook it, and the READ sampled last"},
                    {0x20, "the CAS came before the READ, and the WRITE after or in its gap"}};
  verify(litmus);
}

}  // namespace falafel::litmus
