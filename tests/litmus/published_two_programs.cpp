// Published litmus tests in which the programs of both hosts run: message passing, store buffering
// and load buffering over the network, and the same made robust.
#include <gtest/gtest.h>

#include "tests/litmus/published.h"

namespace falafel::litmus {
namespace {

enum class Between : std::uint8_t { nothing, poll, flush };

// other's x := 1 by a put, perhaps waits, then loads the own y. A get behind the put flushes it.
void put_and_load(Party& party, Between between, std::uint64_t remote, std::uint64_t own,
                  std::size_t seen) {
  party.store(u, 1);
  if (between == Between::flush) {
    party.post({put(party, remote, u), get(party, v, w)});
  } else {
    party.post({put(party, remote, u)});
  }
  if (between != Between::nothing) party.finish();
  party.trial().seen[seen] = party.load(own);
  party.finish();
}

Litmus store_buffering(Between between) {
  Litmus litmus = published([between](Party& server) { put_and_load(server, between, x, y, 0); },
                            [between](Party& client) { put_and_load(client, between, y, x, 1); });
  observe_registers(litmus, 2);
  return litmus;
}

// The client puts data and then a flag; the server loads the flag and then the data.
Litmus message_passing(const Program& client) {
  Litmus litmus = published(
      [](Party& server) {
        server.trial().seen[0] = server.load(y);
        server.trial().seen[1] = server.load(x);
      },
      client);
  observe_registers(litmus, 2);
  return litmus;
}

// The client gets x and puts y; the server loads y and stores x.
Litmus load_buffering(const Program& client) {
  Litmus litmus = published(
      [](Party& server) {
        server.trial().seen[0] = server.load(y);
        server.store(x, 1);
      },
      client);
  observe_registers(litmus, 2);
  return litmus;
}

void load_then_put(Party& party, std::uint64_t own, std::uint64_t remote, std::size_t seen) {
  party.store(u, 1);
  party.trial().seen[seen] = party.load(own);
  party.post({put(party, remote, u)});
  party.finish();
}

}  // namespace

// Each side puts 1 into the other's memory and loads its own word.
TEST(Litmus, Published_store_buffering_by_puts) {
  Litmus litmus = store_buffering(Between::nothing);
  litmus.allowed = {{0x00, "both puts are under way"}, {0x01, ""}, {0x10, ""}, {0x11, ""}};
  verify(litmus);
}

// The completion of a put says nothing of the other host's memory.
TEST(Litmus, Published_store_buffering_by_polled_puts) {
  Litmus litmus = store_buffering(Between::poll);
  litmus.allowed = {{0x00, "both puts have completed, and are not in memory"},
                    {0x01, ""},
                    {0x10, ""},
                    {0x11, ""}};
  verify(litmus);
}

// A get behind the put does: it flushes the put.
TEST(Litmus, Published_store_buffering_by_flushed_puts) {
  Litmus litmus = store_buffering(Between::flush);
  litmus.allowed = {{0x01, "the server's put is last"}, {0x10, "the client's"}, {0x11, "both see"}};
  litmus.forbidden = "both puts are flushed, and both miss each other";
  verify(litmus);
}

// u := 1; x := u; y := u, seen by the other processor.
TEST(Litmus, Published_message_passing_by_puts) {
  Litmus litmus = message_passing([](Party& client) {
    client.store(u, 1);
    client.post({put(client, x, u), put(client, y, u)});
    client.finish();
  });
  litmus.allowed = {{0x00, "neither"}, {0x01, "the data"}, {0x11, "both"}};
  litmus.forbidden = "the flag without the data";
  verify(litmus);
}

TEST(Litmus, Published_message_passing_by_puts_of_two_queue_pairs) {
  Litmus litmus = message_passing([](Party& client) {
    client.store(u, 1);
    client.post({put(client, x, u)}, 0);
    client.post({put(client, y, u)}, 1);
    client.finish();
  });
  litmus.stage.connections_per_client = 2;
  litmus.allowed = {
      {0x00, "neither"}, {0x01, "the data"}, {0x10, "the flag alone"}, {0x11, "both"}};
  verify(litmus);
}

// Polling between them does not help.
TEST(Litmus, Published_message_passing_by_polled_puts_of_two_queue_pairs) {
  Litmus litmus = message_passing([](Party& client) {
    client.store(u, 1);
    client.post({put(client, x, u)}, 0);
    client.finish();
    client.post({put(client, y, u)}, 1);
    client.finish();
  });
  litmus.stage.connections_per_client = 2;
  litmus.allowed = {
      {0x00, "neither"}, {0x01, "the data"}, {0x10, "the flag alone"}, {0x11, "both"}};
  verify(litmus);
}

// A get between them does.
TEST(Litmus, Published_message_passing_by_flushed_puts_of_two_queue_pairs) {
  Litmus litmus = message_passing([](Party& client) {
    client.store(u, 1);
    client.post({put(client, x, u), get(client, v, z)}, 0);
    client.finish();
    client.post({put(client, y, u)}, 1);
    client.finish();
  });
  litmus.stage.connections_per_client = 2;
  litmus.allowed = {{0x00, "neither"}, {0x01, "the data"}, {0x11, "both"}};
  litmus.forbidden = "the flag without the data";
  verify(litmus);
}

// The server stores data and a flag; the client gets the flag, polls, gets the data.
TEST(Litmus, Published_message_passing_by_stores_and_gets) {
  Litmus litmus = published(
      [](Party& server) {
        server.store(x, 1);
        server.store(y, 1);
      },
      [](Party& client) {
        client.post({get(client, u, y)});
        client.finish();
        client.post({get(client, v, x)});
        client.finish();
        client.trial().seen[0] = client.load(u);
        client.trial().seen[1] = client.load(v);
      });
  observe_registers(litmus, 2);
  litmus.allowed = {{0x00, "neither"}, {0x01, "the data"}, {0x11, "both"}};
  litmus.forbidden = "the flag without the data";
  verify(litmus);
}

// Loads come before what is posted behind them.
TEST(Litmus, Published_load_buffering_by_loads_and_puts) {
  Litmus litmus = published([](Party& server) { load_then_put(server, y, x, 0); },
                            [](Party& client) { load_then_put(client, x, y, 1); });
  observe_registers(litmus, 2);
  litmus.allowed = {{0x00, "neither"}, {0x01, "the server's put"}, {0x10, "the client's put"}};
  litmus.forbidden = "each load sees a put that its own put follows";
  verify(litmus);
}

// u := x; y := v: the put may overtake the get.
TEST(Litmus, Published_load_buffering_by_a_get_and_a_put) {
  Litmus litmus = load_buffering([](Party& client) {
    client.store(v, 1);
    client.post({get(client, u, x), put(client, y, v)});
    client.finish();
    client.trial().seen[1] = client.load(u);
  });
  litmus.allowed = {{0x00, "neither"},
                    {0x01, "the get sees the store"},
                    {0x10, "the load sees the put"},
                    {0x11, "both see what comes later"}};
  verify(litmus);
}

TEST(Litmus, Published_load_buffering_by_a_get_a_fence_and_a_put) {
  Litmus litmus = load_buffering([](Party& client) {
    client.store(v, 1);
    client.post({get(client, u, x), fenced(put(client, y, v))});
    client.finish();
    client.trial().seen[1] = client.load(u);
  });
  litmus.allowed = {
      {0x00, "neither"}, {0x01, "the get sees the store"}, {0x10, "the load sees the put"}};
  litmus.forbidden = "both see what comes later";
  verify(litmus);
}

// The client stores its own x and gets y; the server stores y and gets x.
Litmus store_buffering_by_gets(bool polls) {
  const auto side = [polls](Party& party, std::uint64_t own, std::uint64_t remote,
                            std::size_t seen) {
    const auto request = get(party, u, remote);
    party.store(own, 1);
    party.post({request});
    if (polls) party.finish();
    party.trial().seen[seen] = party.load(u);
    party.finish();
  };
  Litmus litmus = published([side](Party& server) { side(server, y, x, 0); },
                            [side](Party& client) { side(client, x, y, 1); });
  observe_registers(litmus, 2);
  return litmus;
}

// The doorbell follows the store, so a get that has completed follows it too.
TEST(Litmus, Published_store_buffering_by_stores_and_polled_gets) {
  Litmus litmus = store_buffering_by_gets(true);
  litmus.allowed = {{0x01, "the client is last"}, {0x10, "the server is last"}, {0x11, "both see"}};
  litmus.forbidden = "both gets miss the other's store";
  verify(litmus);
}

TEST(Litmus, Published_store_buffering_by_stores_and_gets) {
  Litmus litmus = store_buffering_by_gets(false);
  litmus.allowed = {{0x00, "neither get is there"}, {0x01, ""}, {0x10, ""}, {0x11, ""}};
  verify(litmus);
}

// A put of one host and a store of the other to one word.
TEST(Litmus, Published_a_put_and_a_store_to_one_word) {
  Litmus litmus = published(
      [](Party& server) {
        server.store(x, 2);
        server.trial().seen[0] = server.load(x);
      },
      [](Party& client) {
        client.store(u, 1);
        client.post({put(client, x, u)});
        client.finish();
      });
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[0], trial.final_word(x)); };
  litmus.allowed = {{0x22, "the put, then the store"},
                    {0x21, "the store, seen, then the put"},
                    {0x11, "the store, the put, seen"}};
  litmus.forbidden = "the put is seen, and the store comes last";
  verify(litmus);
}

}  // namespace falafel::litmus
