// Rules 10, 21 and 23 where several queue pairs of the server share a receive queue. One client has
// a connection to each of the two queue pairs.
#include <gtest/gtest.h>

#include "tests/litmus/litmus.h"
#include "tests/litmus/words.h"

namespace falafel::litmus {
namespace {

using fabric::CompletionStatus;

constexpr std::uint64_t one_hour_ns = 3'600'000'000'000;

// The server offers the words from z on, one request for each of them, before the client begins.
Litmus shared_receives(std::uint64_t offered, Program server, Program client) {
  Litmus litmus;
  litmus.stage.connections_per_client = 2;
  litmus.stage.shared_receive_requests = 4;
  litmus.stage.prepare_server = [offered](Party& party) {
    for (std::uint64_t word = z; word < z + offered; ++word) party.post_shared_receive(word);
  };
  litmus.server = std::move(server);
  litmus.clients = {std::move(client)};
  return litmus;
}

std::uint64_t code_of(CompletionStatus status) { return static_cast<std::uint64_t>(status); }

// Sends 1 on the first connection and 2 on the second. The registers 0 and 1 get the statuses.
void send_on_both(Party& client) {
  const auto first = client.send({1});
  const auto second = client.send({2});
  client.post({first}, 0);
  client.post({second}, 1);
  client.finish();
  client.trial().seen[0] = code_of(client.status(first));
  client.trial().seen[1] = code_of(client.status(second));
}

// Counts the receive completions of the run in the registers 2 (success) and 3 (flushed).
void count_messages(Party& server) {
  while (const auto received = server.await_message(one_hour_ns)) {
    ++server.trial().seen[received->status == CompletionStatus::success ? 2 : 3];
  }
}

}  // namespace

TEST(Litmus, Rule23_shared_requests_are_taken_in_the_order_of_posting) {
  Litmus litmus = shared_receives(4, {}, [](Party& client) {
    client.post({client.send({1}), client.send({2})}, 0);
    client.post({client.send({3})}, 1);
    client.finish();
  });
  litmus.outcome = [](Trial& trial) {
    return digits(trial.final_word(z), trial.final_word(z + 1), trial.final_word(z + 2),
                  trial.final_word(z + 3));
  };
  litmus.allowed = {{0x1230, "the first connection first"},
                    {0x1320, "the second connection in between"},
                    {0x3120, "the second connection first"}};
  litmus.forbidden = "a newer request before an older one, or messages of one connection reordered";
  verify(litmus);
}

TEST(Litmus, Rule23_shared_requests_complete_at_the_queue_pair_that_took_them) {
  Litmus litmus = shared_receives(
      2,
      [](Party& server) {
        for (std::size_t index = 0; index < 2; ++index) {
          const auto received = server.await_message(fabric::never_ns, index);
          server.trial().seen[2 + index] = server.load(received->id);
          server.trial().seen[4 + index] =
              received->queue_pair_number == server.queue_pair(index).number();
        }
      },
      send_on_both);
  litmus.stage.separate_receive_completions = true;
  litmus.outcome = [](Trial& trial) {
    return seen_digits(trial, 4, 2) << 4U | digits(trial.final_word(z));
  };
  litmus.allowed = {{0x12'11'1, "the first connection took the older request"},
                    {0x12'11'2, "the second connection took it"}};
  litmus.forbidden =
      "a message at the completion queue, or under the number, of another queue pair";
  verify(litmus);
}

TEST(Litmus, Rule23_error_leaves_shared_requests_to_other_queue_pairs) {
  Litmus litmus = shared_receives(
      2,
      [](Party& server) {
        server.yield_at_random(most_yields);
        server.queue_pair(0).move_to_error();
        count_messages(server);
      },
      send_on_both);
  litmus.outcome = [](Trial& trial) {
    return seen_digits(trial, 4) << 8U | digits(trial.final_word(z), trial.final_word(z + 1));
  };
  litmus.allowed = {{0x00'20'12, "both arrived before the error, the first one first"},
                    {0x00'20'21, "both arrived before the error, the second one first"},
                    {0x40'10'20, "the first failed and took no request"}};
  litmus.forbidden = "a flushed request, or one that the queue pair in error took";
  verify(litmus);
}

TEST(Litmus, Rule23_error_flushes_only_the_shared_request_that_was_taken) {
  Litmus litmus = shared_receives(
      2,
      [](Party& server) {
        server.yield_at_random(most_yields);
        server.queue_pair(0).move_to_error();
        count_messages(server);
      },
      [](Party& client) {
        const auto write = with_immediate(client.write(x, {1}), 5);
        const auto send = client.send({2});
        client.post({write}, 0);
        client.post({send}, 1);
        client.finish();
        client.trial().seen[0] = code_of(client.status(write));
        client.trial().seen[1] = code_of(client.status(send));
      });
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 4); };
  litmus.allowed = {{0x00'20, "both arrived before the error"},
                    {0x40'10, "the WRITE failed before it took a request"},
                    {0x00'11, "the WRITE had taken a request, which was flushed"}};
  litmus.forbidden = "a request that is flushed for the other queue pair, or lost";
  verify(litmus);
}

TEST(Litmus, Rule23_an_empty_shared_queue_makes_senders_wait) {
  Litmus litmus = shared_receives(
      0,
      [](Party& server) {
        if (server.host().random(2) == 0) server.host().sleep_until(one_hour_ns);
        server.post_shared_receive(z);
        server.post_shared_receive(z + 1);
      },
      send_on_both);
  litmus.outcome = [](Trial& trial) {
    return seen_digits(trial, 2) << 8U | digits(trial.final_word(z), trial.final_word(z + 1));
  };
  litmus.allowed = {{0x00'12, "both arrive, the first one first"},
                    {0x00'21, "both arrive, the second one first"}};
  litmus.forbidden = "a SEND that fails for want of a receive request, or waits for ever";
  verify(litmus);
}

TEST(Litmus, Rule23_one_shared_request_is_for_one_message) {
  Litmus litmus = shared_receives(
      0,
      [](Party& server) {
        server.yield_at_random(2);
        server.post_shared_receive(z);
      },
      send_on_both);
  litmus.stage.queue_pair.receiver_not_ready_retry_count = 1;
  litmus.outcome = [](Trial& trial) {
    return seen_digits(trial, 2) << 4U | digits(trial.final_word(z));
  };
  litmus.allowed = {{0x05'1, "the first took it, the second was not received"},
                    {0x50'2, "the second took it, the first was not received"},
                    {0x55'0, "the request came too late for both"}};
  litmus.forbidden = "two messages with one receive request";
  verify(litmus);
}

TEST(Litmus, Rule10_shared_receive_completion_shows_writes_of_its_queue_pair) {
  Litmus litmus = shared_receives(
      2,
      [](Party& server) {
        const auto received = server.await_message();
        const bool is_first = received->queue_pair_number == server.queue_pair(0).number();
        server.trial().seen[0] = server.load(is_first ? x : y);
        server.trial().seen[1] = server.load(is_first ? y : x);
      },
      [](Party& client) {
        client.post({client.write(x, {1}), client.send({1})}, 0);
        client.post({client.write(y, {1}), client.send({2})}, 1);
      });
  litmus.options.late_visibility = true;
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {{0x10, "the WRITE of the sender, not the other one"}, {0x11, "both WRITEs"}};
  litmus.forbidden = "a message is received, and an earlier WRITE of its connection not seen";
  verify(litmus);
}

namespace {

// The client dies after a WRITE. The server has posted no send to the queue pair, and its shared
// requests are not flushed.
Litmus reuse_with_shared_receives(bool wait_for_flush) {
  Litmus litmus = shared_receives(
      1,
      [wait_for_flush](Party& server) {
        server.yield_at_random(most_yields);
        if (server.trial().told(0) == 0) return;
        server.queue_pair(0).move_to_error();
        server.post({server.send({1})}, 0);
        if (wait_for_flush) server.finish();
        server.store(x, 5);
        server.trial().seen[1] = 1;
      },
      [](Party& client) {
        client.post({client.write(x, {1})}, 0);
        client.trial().tell(0, 1);
        client.trial().simulation().crash(client_names[0]);
        client.host().yield();
      });
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[1], trial.final_word(x)); };
  litmus.allowed = {{0x00, "not reused; lost"}, {0x01, "not reused; executed"}, {0x15, "reused"}};
  return litmus;
}

}  // namespace

TEST(Litmus, Rule21_flush_of_a_send_fences_without_own_receives) {
  Litmus litmus = reuse_with_shared_receives(true);
  litmus.forbidden = "reused memory overwritten by the dead";
  verify(litmus);
}

TEST(Litmus, Rule21_a_send_that_is_not_awaited_fences_nothing) {
  Litmus litmus = reuse_with_shared_receives(false);
  litmus.allowed.push_back({0x11, "what had been admitted landed in reused memory"});
  verify(litmus);
}

}  // namespace falafel::litmus
