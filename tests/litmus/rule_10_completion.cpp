// Rule 10: what the completion of a request guarantees, and what it does not.
#include <gtest/gtest.h>

#include "tests/litmus/litmus.h"

namespace falafel::litmus {
namespace {

// The client tells the server of completions. The server's processor hears of them first, then
// reads its memory.
void look_after_the_flag(Party& server) {
  server.host().yield();
  const std::uint64_t flag = server.trial().told(0);
  server.trial().seen[1] = server.load(x);
  server.trial().seen[2] = flag;
}

Litmus flag_and_load(Program client) {
  Litmus litmus;
  litmus.server = look_after_the_flag;
  litmus.clients = {std::move(client)};
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[2], trial.seen[1]); };
  litmus.allowed = {{0x00, "before the WRITE"},
                    {0x01, "in memory, not known yet"},
                    {0x11, "in memory and known"}};
  return litmus;
}

}  // namespace

TEST(Litmus, Rule10_write_completion_does_not_reach_the_processor) {
  Litmus litmus = flag_and_load([](Party& client) {
    client.post({client.write(x, {1})});
    client.finish();
    client.trial().tell(0, 1);
  });
  litmus.allowed.push_back({0x10, "completed, and not in memory"});
  verify(litmus);
}

TEST(Litmus, Rule10_placement_before_completion_is_an_option) {
  Litmus litmus = flag_and_load([](Party& client) {
    client.post({client.write(x, {1})});
    client.finish();
    client.trial().tell(0, 1);
  });
  litmus.options.placed_before_completed = true;
  litmus.unproven = "explorations refuse the option";
  litmus.forbidden = "a WRITE completed, and not in memory";
  verify(litmus);
}

TEST(Litmus, Rule10_read_on_the_same_queue_pair_does) {
  Litmus litmus = flag_and_load([](Party& client) {
    const auto write = client.write(x, {1});
    const auto read = client.read(y);  // any word suffices
    if (client.host().random(2) == 0) {
      client.post({write, read});
    } else {
      client.post({write});
      client.finish();
      client.post({read});
    }
    client.finish();
    client.trial().tell(0, 1);
  });
  litmus.forbidden = "a READ completed, and an earlier WRITE not in memory";
  verify(litmus);
}

TEST(Litmus, Rule10_atomic_completion_reaches_the_processor) {
  Litmus litmus = flag_and_load([](Party& client) {
    client.post({client.compare_and_swap(x, 0, 1)});
    client.finish();
    client.trial().tell(0, 1);
  });
  litmus.forbidden = "an atomic completed, and not in memory";
  verify(litmus);
}

TEST(Litmus, Rule10_write_completion_does_not_reach_other_queue_pairs) {
  Litmus litmus;
  litmus.stage.connections_per_client = 2;
  litmus.clients = {[](Party& client) {
    client.post({client.write(x, {1})}, 0);
    client.finish();
    const auto sample = client.read(x);
    client.post({sample}, 1);
    client.finish();
    client.trial().seen[0] = client.result(sample);
  }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 1); };
  litmus.allowed = {{0, "the READ missed a WRITE that had completed"}, {1, "the READ saw it"}};
  verify(litmus);
}

namespace {

// The client changes the source of a WRITE at a moment chosen by the test.
Litmus source_changes(std::function<void(Party&, const fabric::WorkRequest&)> post) {
  Litmus litmus;
  litmus.stage.queue_pair.max_inline_bytes = fabric::word_bytes;
  litmus.stage.queue_pair.max_send_segments = 2;
  litmus.clients = {[post = std::move(post)](Party& client) {
    const auto write = client.write(x, {1});
    post(client, write);
    client.store(write.local.offset / fabric::word_bytes, 2);
    client.finish();
  }};
  litmus.outcome = [](Trial& trial) { return digits(trial.final_word(x)); };
  litmus.allowed = {{1, "the data of the time of posting"}};
  return litmus;
}

}  // namespace

TEST(Litmus, Rule10_source_is_read_until_completion) {
  Litmus litmus =
      source_changes([](Party& client, const fabric::WorkRequest& write) { client.post({write}); });
  litmus.allowed.push_back({2, "the data that the buffer was reused for"});
  verify(litmus);
}

TEST(Litmus, Rule10_segments_are_read_until_completion) {
  Litmus litmus = source_changes([](Party& client, const fabric::WorkRequest& write) {
    client.post({with_segments(write, segments_of<2>(write))});
  });
  litmus.allowed.push_back({2, "the data that the buffer was reused for"});
  verify(litmus);
}

TEST(Litmus, Rule10_segments_are_free_after_completion) {
  Litmus litmus = source_changes([](Party& client, const fabric::WorkRequest& write) {
    const bool is_inline = client.host().random(2) == 0;
    const auto segments = segments_of<2>(write);
    const auto request = with_segments(write, segments);
    client.post({is_inline ? inlined(request) : request});
    if (!is_inline) client.finish();
  });
  litmus.forbidden = "a source that is read after the completion, or after posting if inlined";
  verify(litmus);
}

TEST(Litmus, Rule10_inline_source_is_free_at_once) {
  Litmus litmus = source_changes(
      [](Party& client, const fabric::WorkRequest& write) { client.post({inlined(write)}); });
  litmus.forbidden = "an inline source that is read after posting";
  verify(litmus);
}

TEST(Litmus, Rule10_source_is_free_after_completion) {
  Litmus litmus = source_changes([](Party& client, const fabric::WorkRequest& write) {
    // Waits for the request's own completion, or for that of a later request if it is unsignalled.
    if (client.host().random(2) == 0) {
      client.post({write});
    } else {
      client.post({unsignalled(write), client.write(y, {1})});
    }
    client.finish();
  });
  litmus.forbidden = "a source that is read after the completion";
  verify(litmus);
}

TEST(Litmus, Rule10_completions_come_in_order) {
  Litmus litmus;
  litmus.clients = {[](Party& client) {
    client.post({client.read(x), client.write(y, {1}), client.compare_and_swap(z, 0, 1),
                 client.write(x, {1}), client.read(y)});
    client.finish();
    for (std::size_t index = 0; index < 5; ++index) {
      client.trial().seen.at(index) = client.completed().at(index);
    }
  }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 5); };
  litmus.allowed = {{0x01234, "in the order of posting"}};
  litmus.forbidden = "completions out of order";
  verify(litmus);
}

}  // namespace falafel::litmus
