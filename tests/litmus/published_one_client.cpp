// Published litmus tests in which one program runs: the order of a thread's own accesses, and of
// what the network card does for it.
#include <gtest/gtest.h>

#include "tests/litmus/published.h"

namespace falafel::litmus {
namespace {

// z is 1 at first.
void server_has_one(Party& server) { server.memory().store(z * fabric::word_bytes, 1); }

Litmus one_client(Program client) {
  Litmus litmus = published({}, std::move(client));
  litmus.stage.prepare_server = server_has_one;
  return litmus;
}

void observe_word_of_client(Litmus& litmus, std::uint64_t word) {
  litmus.outcome = [word](Trial& trial) { return digits(trial.client().final_word(word)); };
}

void observe_word_of_server(Litmus& litmus, std::uint64_t word) {
  litmus.outcome = [word](Trial& trial) { return digits(trial.final_word(word)); };
}

}  // namespace

// x := u; u := 1. The card reads u late.
TEST(Litmus, Published_put_then_store) {
  Litmus litmus = one_client([](Party& client) {
    client.post({put(client, x, u)});
    client.store(u, 1);
    client.finish();
  });
  observe_word_of_server(litmus, x);
  litmus.allowed = {{0x0, "the put, then the store"}, {0x1, "the store, then the put"}};
  verify(litmus);
}

// x := u; poll; u := 1
TEST(Litmus, Published_put_poll_store) {
  Litmus litmus = one_client([](Party& client) {
    client.post({put(client, x, u)});
    client.finish();
    client.store(u, 1);
  });
  observe_word_of_server(litmus, x);
  litmus.allowed = {{0x0, "the put reads before its completion"}};
  litmus.forbidden = "a put reads its source after its completion";
  verify(litmus);
}

// u := 1; x := u
TEST(Litmus, Published_store_then_put) {
  Litmus litmus = one_client([](Party& client) {
    const auto request = put(client, x, u);
    client.store(u, 1);
    client.post({request});
    client.finish();
  });
  observe_word_of_server(litmus, x);
  litmus.allowed = {{0x1, "the store, then the put"}};
  litmus.forbidden = "a put passes an earlier store";
  verify(litmus);
}

// u := z; a := u. The card writes u late.
TEST(Litmus, Published_get_then_load) {
  Litmus litmus = one_client([](Party& client) {
    client.post({get(client, u, z)});
    client.trial().seen[0] = client.load(u);
    client.finish();
  });
  observe_registers(litmus, 1);
  litmus.allowed = {{0x0, "the load, then the get"}, {0x1, "the get, then the load"}};
  verify(litmus);
}

// u := z; poll; a := u
TEST(Litmus, Published_get_poll_load) {
  Litmus litmus = one_client([](Party& client) {
    client.post({get(client, u, z)});
    client.finish();
    client.trial().seen[0] = client.load(u);
  });
  observe_registers(litmus, 1);
  litmus.allowed = {{0x1, "what the get brought"}};
  litmus.forbidden = "a get has completed, and its data is not there";
  verify(litmus);
}

// a := u; u := z
TEST(Litmus, Published_load_then_get) {
  Litmus litmus = one_client([](Party& client) {
    const auto request = get(client, u, z);
    client.trial().seen[0] = client.load(u);
    client.post({request});
    client.finish();
  });
  observe_registers(litmus, 1);
  litmus.allowed = {{0x0, "the load, then the get"}};
  litmus.forbidden = "a get passes an earlier load";
  verify(litmus);
}

// u := z; u := 2
TEST(Litmus, Published_get_then_store) {
  Litmus litmus = one_client([](Party& client) {
    client.post({get(client, u, z)});
    client.store(u, 2);
    client.finish();
  });
  observe_word_of_client(litmus, u);
  litmus.allowed = {{0x1, "the store, then the get"}, {0x2, "the get, then the store"}};
  verify(litmus);
}

// u := z; poll; u := 2
TEST(Litmus, Published_get_poll_store) {
  Litmus litmus = one_client([](Party& client) {
    client.post({get(client, u, z)});
    client.finish();
    client.store(u, 2);
  });
  observe_word_of_client(litmus, u);
  litmus.allowed = {{0x2, "the get, then the store"}};
  litmus.forbidden = "a get overwrites a later store after its completion";
  verify(litmus);
}

// u := 2; u := z
TEST(Litmus, Published_store_then_get) {
  Litmus litmus = one_client([](Party& client) {
    const auto request = get(client, u, z);
    client.store(u, 2);
    client.post({request});
    client.finish();
  });
  observe_word_of_client(litmus, u);
  litmus.allowed = {{0x1, "the store, then the get"}};
  litmus.forbidden = "a store overwrites a later get";
  verify(litmus);
}

// u := 1; v := 2; x := u; x := v
TEST(Litmus, Published_put_then_put_to_one_word) {
  Litmus litmus = one_client([](Party& client) {
    client.store(u, 1);
    client.store(v, 2);
    client.post({put(client, x, u), put(client, x, v)});
    client.finish();
  });
  observe_word_of_server(litmus, x);
  litmus.allowed = {{0x2, "in order"}};
  litmus.forbidden = "the earlier put lands last";
  verify(litmus);
}

// u := 2; z := u; v := z; poll
TEST(Litmus, Published_put_then_get) {
  Litmus litmus = one_client([](Party& client) {
    client.store(u, 2);
    client.post({put(client, z, u), get(client, v, z)});
    client.finish();
    client.trial().seen[0] = client.load(v);
  });
  observe_registers(litmus, 1);
  litmus.allowed = {{0x2, "in order"}};
  litmus.forbidden = "the get misses the put";
  verify(litmus);
}

// The put reads u, which the later get writes: u := z must not come before x := u.
TEST(Litmus, Published_put_then_get_of_its_source) {
  Litmus litmus = one_client([](Party& client) {
    client.post({put(client, x, u), get(client, u, z)});
    client.finish();
  });
  observe_word_of_server(litmus, x);
  litmus.allowed = {{0x0, "in order"}};
  litmus.forbidden = "the put takes what the later get brings";
  verify(litmus);
}

Litmus get_then_put_of_one_word(bool has_fence) {
  Litmus litmus = one_client([has_fence](Party& client) {
    client.store(u, 2);
    const auto second = put(client, z, u);
    client.post({get(client, v, z), has_fence ? fenced(second) : second});
    client.finish();
    client.trial().seen[0] = client.load(v);
  });
  observe_registers(litmus, 1);
  return litmus;
}

// u := 2; v := z; z := u; poll
TEST(Litmus, Published_get_then_put) {
  Litmus litmus = get_then_put_of_one_word(false);
  litmus.allowed = {{0x1, "in order"}, {0x2, "the get sees the later put"}};
  verify(litmus);
}

TEST(Litmus, Published_get_fence_put) {
  Litmus litmus = get_then_put_of_one_word(true);
  litmus.allowed = {{0x1, "in order"}};
  litmus.forbidden = "the get sees a put behind the fence";
  verify(litmus);
}

// u := z; x := u
TEST(Litmus, Published_get_then_put_of_its_target) {
  Litmus litmus = one_client([](Party& client) {
    client.post({get(client, u, z), put(client, x, u)});
    client.finish();
  });
  observe_word_of_server(litmus, x);
  litmus.allowed = {{0x0, "the put reads u before the get writes it"}, {0x1, "in order"}};
  verify(litmus);
}

TEST(Litmus, Published_get_fence_put_of_its_target) {
  Litmus litmus = one_client([](Party& client) {
    client.post({get(client, u, z), fenced(put(client, x, u))});
    client.finish();
  });
  observe_word_of_server(litmus, x);
  litmus.allowed = {{0x1, "in order"}};
  litmus.forbidden = "the put passes the fence";
  verify(litmus);
}

TEST(Litmus, Published_get_poll_put_of_its_target) {
  Litmus litmus = one_client([](Party& client) {
    client.post({get(client, u, z)});
    client.finish();
    client.post({put(client, x, u)});
    client.finish();
  });
  observe_word_of_server(litmus, x);
  litmus.allowed = {{0x1, "in order"}};
  litmus.forbidden = "the put reads u before the get has completed";
  verify(litmus);
}

// x := u on one queue pair, v := x on another: nothing orders them, not even in one thread.
TEST(Litmus, Published_put_then_get_of_two_queue_pairs) {
  Litmus litmus = one_client([](Party& client) {
    client.store(u, 1);
    client.post({put(client, x, u)}, 0);
    client.post({get(client, v, x)}, 1);
    client.finish();
    client.trial().seen[0] = client.load(v);
  });
  litmus.stage.connections_per_client = 2;
  observe_registers(litmus, 1);
  litmus.allowed = {{0x0, "the get comes first"}, {0x1, "the put comes first"}};
  verify(litmus);
}

// A put, its completion, and a get on another queue pair: the data may not be in memory yet.
TEST(Litmus, Published_put_poll_get_of_two_queue_pairs) {
  Litmus litmus = one_client([](Party& client) {
    client.store(u, 1);
    client.post({put(client, x, u)}, 0);
    client.finish();
    client.post({get(client, v, x)}, 1);
    client.finish();
    client.trial().seen[0] = client.load(v);
  });
  litmus.stage.connections_per_client = 2;
  observe_registers(litmus, 1);
  litmus.allowed = {{0x0, "completed, not in memory"}, {0x1, "in memory"}};
  verify(litmus);
}

}  // namespace falafel::litmus
