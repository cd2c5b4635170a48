// Published litmus tests of remote read-modify-writes: they are atomic with respect to each other,
// and to nothing else.
#include <gtest/gtest.h>

#include "tests/litmus/published.h"

namespace falafel::litmus {
namespace {

void add(Party& client, std::uint64_t word, std::uint64_t addend, std::size_t seen) {
  const auto request = client.fetch_and_add(word, addend);
  client.post({request});
  client.finish();
  client.trial().seen[seen] = client.result(request);
}

Litmus beside_an_addition(const Program& server) {
  Litmus litmus = published(server, [](Party& client) { add(client, x, 1, 1); });
  litmus.outcome = [](Trial& trial) {
    return digits(trial.seen[0], trial.seen[1], trial.final_word(x));
  };
  return litmus;
}

}  // namespace

TEST(Litmus, Published_two_remote_additions) {
  Litmus litmus = published({}, [](Party& client) { add(client, x, 1, 0); });
  litmus.stage.client_count = 2;
  litmus.clients.emplace_back([](Party& client) { add(client, x, 2, 1); });
  litmus.outcome = [](Trial& trial) {
    return digits(trial.seen[0], trial.seen[1], trial.final_word(x));
  };
  litmus.allowed = {{0x013, "the first client is first"}, {0x203, "the second is first"}};
  litmus.forbidden = "an addition is lost";
  verify(litmus);
}

TEST(Litmus, Published_a_remote_addition_and_a_store) {
  Litmus litmus = beside_an_addition([](Party& server) { server.store(x, 5); });
  litmus.allowed = {{0x001, "the store is lost"},
                    {0x005, "the addition, then the store"},
                    {0x056, "the store, then the addition"}};
  litmus.forbidden = "the addition is neither first, nor last, nor around the store";
  verify(litmus);
}

TEST(Litmus, Published_a_remote_addition_and_the_processors_swap) {
  Litmus litmus = beside_an_addition(
      [](Party& server) { server.trial().seen[0] = server.processor_compare_and_swap(x, 0, 5); });
  litmus.allowed = {{0x001, "the swap succeeds, and is lost"},
                    {0x056, "the swap, then the addition"},
                    {0x101, "the addition, then the swap, which fails"}};
  litmus.forbidden = "the swap replaces the sum";
  verify(litmus);
}

TEST(Litmus, Published_a_remote_addition_and_a_put) {
  Litmus litmus = published({}, [](Party& client) { add(client, x, 1, 1); });
  litmus.stage.client_count = 2;
  litmus.clients.emplace_back([](Party& client) {
    client.store(u, 5);
    client.post({put(client, x, u)});
    client.finish();
  });
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[1], trial.final_word(x)); };
  litmus.allowed = {{0x01, "the put is lost"},
                    {0x05, "the addition, then the put"},
                    {0x56, "the put, then the addition"}};
  litmus.forbidden = "the addition is neither first, nor last, nor around the put";
  verify(litmus);
}

TEST(Litmus, Published_put_then_remote_addition) {
  Litmus litmus = published({}, [](Party& client) {
    const auto addition = client.fetch_and_add(x, 1);
    client.store(u, 5);
    client.post({put(client, x, u), addition});
    client.finish();
    client.trial().seen[1] = client.result(addition);
  });
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[1], trial.final_word(x)); };
  litmus.allowed = {{0x56, "in order"}};
  litmus.forbidden = "the addition passes the put";
  verify(litmus);
}

Litmus addition_then_put(bool has_fence) {
  Litmus litmus = published({}, [has_fence](Party& client) {
    const auto addition = client.fetch_and_add(x, 1);
    client.store(u, 5);
    const auto second = put(client, x, u);
    client.post({addition, has_fence ? fenced(second) : second});
    client.finish();
    client.trial().seen[1] = client.result(addition);
  });
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[1], trial.final_word(x)); };
  return litmus;
}

TEST(Litmus, Published_remote_addition_then_put) {
  Litmus litmus = addition_then_put(false);
  litmus.allowed = {{0x05, "in order"},
                    {0x56, "the put passes the addition"},
                    {0x01, "the put lands between the addition's read and its write"}};
  verify(litmus);
}

TEST(Litmus, Published_remote_addition_fence_put) {
  Litmus litmus = addition_then_put(true);
  litmus.allowed = {{0x05, "in order"}};
  litmus.forbidden = "the put passes the fence";
  verify(litmus);
}

// The result lands in local memory before the completion, perhaps after a load that follows the
// posting.
TEST(Litmus, Published_remote_addition_then_load_of_its_result) {
  Litmus litmus = published({}, [](Party& client) {
    const auto addition = client.fetch_and_add(x, 1);
    client.post({addition});
    client.trial().seen[0] = client.load(addition.local.offset / fabric::word_bytes);
    client.finish();
    client.trial().seen[1] = client.load(addition.local.offset / fabric::word_bytes);
  });
  litmus.stage.prepare_server = [](Party& server) {
    server.memory().store(x * fabric::word_bytes, 1);
  };
  observe_registers(litmus, 2);
  litmus.allowed = {{0x01, "the load, then the result"}, {0x11, "the result, then the load"}};
  litmus.forbidden = "the addition has completed, and its result is not there";
  verify(litmus);
}

// A lock of a remote swap: what the owner puts before it puts the release is there for the next.
TEST(Litmus, Published_lock_by_remote_swaps) {
  const auto owner = [](Party& client, std::uint64_t mark, std::size_t seen) {
    const auto acquire = client.compare_and_swap(y, 0, 1);
    client.post({acquire});
    client.finish();
    if (client.result(acquire) != 0) return;
    client.store(u, mark);
    client.post({get(client, v, x)});
    client.finish();
    client.trial().seen[seen] = client.load(v);
    client.post({put(client, x, u), client.compare_and_swap(y, 1, 0)});
    client.finish();
  };
  Litmus litmus = published({}, [owner](Party& client) { owner(client, 1, 0); });
  litmus.stage.client_count = 2;
  litmus.clients.emplace_back([owner](Party& client) { owner(client, 2, 1); });
  litmus.outcome = [](Trial& trial) {
    return digits(trial.seen[0], trial.seen[1], trial.final_word(x), trial.final_word(y));
  };
  litmus.allowed = {{0x0010, "the first client alone"},
                    {0x0020, "the second client alone"},
                    {0x0120, "the first, then the second"},
                    {0x2010, "the second, then the first"}};
  litmus.forbidden = "an owner misses what the owner before it wrote";
  verify(litmus);
}

}  // namespace falafel::litmus
