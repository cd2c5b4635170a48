// Rules 8 and 10: when the responder's processor sees a WRITE. With the option late_visibility, it
// may see words late; these tests check the latest moment.
#include <gtest/gtest.h>

#include "tests/litmus/litmus.h"

namespace falafel::litmus {
namespace {

Litmus late_visibility(Program server, Program client) {
  Litmus litmus;
  litmus.options.late_visibility = true;
  litmus.server = std::move(server);
  litmus.clients = {std::move(client)};
  return litmus;
}

void write_x(Party& client) { client.post({client.write(x, {1})}); }

// A WRITE of two words to x, then an atomic on y.
void write_x_then_swap_y(Party& client) {
  const bool add = client.host().random(2) == 0;
  const auto atomic = add ? client.fetch_and_add(y, 1) : client.compare_and_swap(y, 0, 1);
  client.post({client.write(x, {1, 1}), atomic});
  client.finish();
}

// The second client tells the server what it found in x; the processor hears of it before it looks.
void look_after_the_second_client(Party& server) {
  server.host().yield();
  const std::uint64_t found = server.trial().told(0);
  server.trial().seen[1] = server.load(x);
  server.trial().seen[2] = found;
}

void read_x(Party& client) {
  const auto read = client.read(x);
  client.post({read});
  client.finish();
  client.trial().tell(0, client.result(read));
}

}  // namespace

TEST(Litmus, Rule10_processor_may_see_a_write_last_of_all) {
  Litmus litmus = late_visibility(look_after_the_second_client, write_x);
  litmus.stage.client_count = 2;
  litmus.clients.emplace_back(read_x);
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[2], trial.seen[1]); };
  litmus.allowed = {{0x00, "before the WRITE"},
                    {0x01, "the processor sees it, the other client did not yet"},
                    {0x11, "both see it"},
                    {0x10, "the other client has read it, the processor does not see it"}};
  verify(litmus);
}

TEST(Litmus, Rule10_receive_completion_shows_earlier_writes) {
  Litmus litmus = late_visibility(
      [](Party& server) {
        server.await_message();
        server.trial().seen[0] = server.load(x);
        server.trial().seen[1] = server.load(x + 1);
      },
      [](Party& client) {
        client.post({client.write(x, {1, 1}), client.send({1})});
      });
  litmus.stage.prepare_server = [](Party& server) { server.post_receive(z); };
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {{0x11, "the WRITE"}};
  litmus.forbidden = "a message is received, and an earlier WRITE not seen";
  verify(litmus);
}

// The processor then sees all of the WRITE that carried the number, and the WRITE before it.
TEST(Litmus, Rule10_immediate_shows_its_own_write) {
  Litmus litmus = late_visibility(
      [](Party& server) {
        const auto received = server.await_message();
        server.trial().seen[0] = received->immediate.value_or(0);
        server.trial().seen[1] = server.load(x);
        server.trial().seen[2] = server.load(x + 1);
        server.trial().seen[3] = server.load(y);
      },
      [](Party& client) {
        client.post({client.write(y, {1}), with_immediate(client.write(x, {1, 1}), 5)});
      });
  litmus.stage.prepare_server = [](Party& server) { server.post_receive(z); };
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 4); };
  litmus.allowed = {{0x5111, "both WRITEs"}};
  litmus.forbidden = "a number is received, and its WRITE or an earlier one not seen";
  verify(litmus);
}

// The completion at the requester says less: the processor may not see the data.
TEST(Litmus, Rule10_completion_of_a_write_with_immediate_does_not_reach_the_processor) {
  Litmus litmus = late_visibility(look_after_the_second_client, [](Party& client) {
    client.post({with_immediate(client.write(x, {1}), 5)});
    client.finish();
    client.trial().tell(0, 1);
  });
  litmus.stage.prepare_server = [](Party& server) { server.post_receive(z); };
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[2], trial.seen[1]); };
  litmus.allowed = {{0x00, "before the WRITE"},
                    {0x01, "seen, not completed yet"},
                    {0x10, "completed, not seen"},
                    {0x11, "seen and completed"}};
  verify(litmus);
}

TEST(Litmus, Rule10_later_read_shows_earlier_writes) {
  Litmus litmus = late_visibility(look_after_the_second_client, [](Party& client) {
    client.post({client.write(x, {1}), client.read(y)});
    client.finish();
    client.trial().tell(0, 1);
  });
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[2], trial.seen[1]); };
  litmus.allowed = {
      {0x00, "before the WRITE"}, {0x01, "seen, not known yet"}, {0x11, "seen and known"}};
  litmus.forbidden = "a READ completed, and an earlier WRITE not seen";
  verify(litmus);
}

TEST(Litmus, Rule10_flush_shows_what_has_landed) {
  Litmus litmus = late_visibility(
      [](Party& server) {
        server.yield_at_random(8);
        server.post_receive(z);
        server.queue_pair().move_to_error();
        server.await_message();
        server.trial().seen[0] = server.load(x);
      },
      write_x);
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[0], trial.final_word(x)); };
  litmus.allowed = {{0x00, "refused by the fence"}, {0x11, "admitted before, and seen"}};
  litmus.forbidden = "a flush, and a WRITE that has landed is not seen";
  verify(litmus);
}

TEST(Litmus, Rule10_destruction_shows_what_has_landed_where_it_drains) {
  Litmus litmus = late_visibility(
      [](Party& server) {
        server.yield_at_random(8);
        server.queue_pair().close();
        server.region().revoke();
        server.trial().seen[0] = server.load(x);
      },
      write_x);
  litmus.stage.destruction_drains = true;
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[0], trial.final_word(x)); };
  litmus.allowed = {{0x00, "refused"}, {0x11, "admitted before, and seen"}};
  litmus.forbidden = "nothing can land any more, and a WRITE that has landed is not seen";
  verify(litmus);
}

TEST(Litmus, Rule10_a_wait_for_a_late_word_ends) {
  Litmus litmus = late_visibility(
      [](Party& server) {
        server.trial().seen[0] =
            server.memory().wait_until_changed(x * fabric::word_bytes, 0, fabric::never_ns);
        server.trial().seen[1] = server.memory().load((x + 1) * fabric::word_bytes);
      },
      [](Party& client) {
        client.post({client.write(x, {1, 1})});
      });
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {{0x10, "the other word is late or missing"}, {0x11, "both words"}};
  litmus.forbidden = "a wait that ends with an old word, or not at all";
  verify(litmus);
}

TEST(Litmus, Rule10_words_never_become_older) {
  Litmus litmus = late_visibility(
      [](Party& server) {
        server.trial().seen[0] = server.load(x);
        server.trial().seen[1] = server.load(x);
      },
      [](Party& client) {
        client.post({client.write(x, {1}), client.write(x, {2})});
      });
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {
      {0x00, "neither"},   {0x01, "none, the first"},       {0x02, "none, the second"},
      {0x11, "the first"}, {0x12, "the first, the second"}, {0x22, "the second"}};
  litmus.forbidden = "an older word after a newer one";
  verify(litmus);
}

TEST(Litmus, Rule08_atomic_does_not_show_writes_to_the_processor) {
  Litmus litmus = late_visibility(
      [](Party& server) {
        server.trial().seen[0] = server.load(y);
        server.trial().seen[1] = server.load(x);
        server.trial().seen[2] = server.load(x + 1);
      },
      write_x_then_swap_y);
  litmus.outcome = [](Trial& trial) {
    return digits(trial.seen[0], trial.seen[1] + trial.seen[2]);
  };
  litmus.allowed = {{0x00, "neither"},
                    {0x01, "a part of the WRITE"},
                    {0x02, "the WRITE"},
                    {0x10, "the atomic alone"},
                    {0x11, "the atomic and a part of the WRITE"},
                    {0x12, "both"}};
  verify(litmus);
}

// A processor that cannot trust its own view reads through the device.
TEST(Litmus, Rule08_reads_find_the_writes_before_an_atomic_that_the_processor_sees) {
  Litmus litmus = late_visibility([](Party& server) { server.trial().tell(0, server.load(y)); },
                                  write_x_then_swap_y);
  litmus.stage.client_count = 2;
  litmus.clients.emplace_back([](Party& client) {
    client.yield_at_random(8);
    const std::uint64_t swapped = client.trial().told(0);
    const auto data = client.read(x, 2);
    client.post({data});
    client.finish();
    client.trial().seen[1] = client.result(data, 0) + client.result(data, 1);
    client.trial().seen[2] = swapped;
  });
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[2], trial.seen[1]); };
  litmus.allowed = {
      {0x00, "neither"}, {0x01, "a part of the WRITE"}, {0x02, "the WRITE"}, {0x12, "both"}};
  litmus.forbidden = "the processor has seen the atomic, and a READ misses an earlier WRITE";
  verify(litmus);
}

}  // namespace falafel::litmus
