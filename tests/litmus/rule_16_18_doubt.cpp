// Rules 16 to 18: what is known about requests that were in flight when a connection broke.
#include <gtest/gtest.h>

#include "fabric/time_units.h"
#include "tests/litmus/litmus.h"
#include "tests/litmus/words.h"

namespace falafel::litmus {
namespace {

using fabric::CompletionStatus;

constexpr std::uint64_t retried = static_cast<std::uint64_t>(CompletionStatus::retry_exceeded);
constexpr std::uint64_t flushed = static_cast<std::uint64_t>(CompletionStatus::flushed);
static_assert(retried == 4 && flushed == 6, "as the outcomes below have it");

// The connection breaks at a random moment; the client or the server detects it.
void break_at_random(Party& server) {
  server.yield_at_random(most_yields);
  const bool at_client = server.host().random(2) == 0;
  server.trial().simulation().break_connection(at_client ? client_names[0] : server_name);
}

bool succeeded(const Party& client, const fabric::WorkRequest& request) {
  return client.status(request) == CompletionStatus::success;
}

}  // namespace

// Despite all delays, one queue pair applies an atomic only once.
TEST(Litmus, Rule16_one_queue_pair_applies_an_atomic_once) {
  Litmus litmus;
  litmus.server = [](Party& server) {
    constexpr std::uint64_t pause_ns = 1'000'000;
    const std::uint64_t fault = server.host().random(3);
    if (fault == 0) break_at_random(server);
    if (fault == 1) {
      server.yield_at_random(most_yields);
      server.trial().simulation().pause(client_names[0], pause_ns);
    }
  };
  litmus.clients = {[](Party& client) {
    const auto add = client.fetch_and_add(x, 1);
    client.post({add});
    client.finish();
    client.trial().seen[0] = succeeded(client, add);
  }};
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[0], trial.final_word(x)); };
  litmus.allowed = {{0x11, "success, applied"},
                    {0x00, "failed, not applied"},
                    {0x01, "failed, applied all the same"}};
  litmus.forbidden = "applied twice, or success without effect";
  verify(litmus);
}

TEST(Litmus, Rule16_posting_again_on_a_new_queue_pair_may_apply_twice) {
  Litmus litmus;
  litmus.server = [](Party& server) {
    break_at_random(server);
    server.accept();
  };
  litmus.clients = {[](Party& client) {
    const auto first = client.fetch_and_add(x, 1);
    client.post({first});
    client.finish();
    client.trial().seen[0] = succeeded(client, first);
    const std::size_t queue_pair = client.connect();
    if (succeeded(client, first)) return;
    const auto second = client.fetch_and_add(x, 1);
    client.post({second}, queue_pair);
    client.finish();
    client.trial().seen[1] = succeeded(client, second);
  }};
  litmus.outcome = [](Trial& trial) {
    return digits(trial.seen[0], trial.seen[1], trial.final_word(x));
  };
  litmus.allowed = {{0x101, "success at once"},
                    {0x011, "the first try had no effect"},
                    {0x012, "both tries had an effect"}};
  verify(litmus);
}

TEST(Litmus, Rule17_write_lands_in_part) {
  Litmus litmus;
  litmus.options.mtu_bytes = small_mtu_bytes;
  litmus.stage.memory_words = 3 * packet_words;
  litmus.server = break_at_random;
  litmus.clients = {[](Party& client) {
    const auto write = client.fill(x, 1, 2 * packet_words);
    client.post({write});
    client.finish();
    client.trial().seen[0] = succeeded(client, write);
  }};
  // The number of packets that landed; f unless they are whole packets from the first one on.
  litmus.outcome = [](Trial& trial) {
    std::uint64_t landed = 0;
    while (landed < 2 * packet_words && trial.final_word(landed) == 1) ++landed;
    bool torn = landed % packet_words != 0;
    for (std::uint64_t word = landed; word < 2 * packet_words; ++word) {
      torn = torn || trial.final_word(word) != 0;
    }
    return digits(trial.seen[0], torn ? 15 : landed / packet_words);
  };
  litmus.allowed = {{0x12, "success, both landed"},
                    {0x00, "failed, nothing landed"},
                    {0x01, "failed, one packet landed"},
                    {0x02, "failed, both landed"}};
  litmus.forbidden = "success in part, or a part that is not whole packets from the first on";
  verify(litmus);
}

TEST(Litmus, Rule17_outcome_of_a_cas_is_unknown) {
  Litmus litmus;
  litmus.server = break_at_random;
  litmus.clients = {[](Party& client) {
    const auto swap = client.compare_and_swap(x, 0, 1);
    client.post({swap});
    client.finish();
    client.trial().seen[0] = succeeded(client, swap);
    client.trial().seen[1] = succeeded(client, swap) ? client.result(swap) : 0;
  }};
  litmus.outcome = [](Trial& trial) {
    return digits(trial.seen[0], trial.seen[1], trial.final_word(x));
  };
  litmus.allowed = {
      {0x101, "success, applied"}, {0x000, "failed, not applied"}, {0x001, "failed, applied"}};
  litmus.forbidden = "success without effect";
  verify(litmus);
}

// Ordered requests are applied up to one of them and no further.
TEST(Litmus, Rule17_what_is_ordered_before_was_applied_too) {
  Litmus litmus;
  litmus.server = break_at_random;
  litmus.clients = {[](Party& client) {
    client.post({client.write(x, {1, 1}), client.write(y, {1}), client.compare_and_swap(z, 0, 1)});
    client.finish();
  }};
  litmus.outcome = [](Trial& trial) {
    return digits(trial.final_word(x) + trial.final_word(x + 1), trial.final_word(y),
                  trial.final_word(z));
  };
  litmus.allowed = {{0x000, "nothing applied"},
                    {0x200, "the first WRITE"},
                    {0x210, "both WRITEs"},
                    {0x211, "everything"}};
  litmus.forbidden = "a request applied and an earlier one not";
  verify(litmus);
}

namespace {

Litmus swap_then_write_in_doubt(bool fence) {
  Litmus litmus;
  litmus.server = break_at_random;
  litmus.clients = {[fence](Party& client) {
    const auto swap = client.compare_and_swap(x, 0, 1);
    const auto write = client.write(y, {1});
    client.post({swap, fence ? fenced(write) : write});
    client.finish();
    client.trial().seen[0] = succeeded(client, swap);
  }};
  litmus.outcome = [](Trial& trial) {
    return digits(trial.seen[0], trial.final_word(x), trial.final_word(y));
  };
  litmus.allowed = {{0x000, "nothing applied"},
                    {0x010, "the CAS applied, and not known to be"},
                    {0x110, "the CAS applied"},
                    {0x111, "both applied"}};
  return litmus;
}

}  // namespace

TEST(Litmus, Rule17_fence_holds_in_failure) {
  Litmus litmus = swap_then_write_in_doubt(true);
  litmus.forbidden = "the fenced WRITE applied, and the CAS before it not finished";
  verify(litmus);
}

TEST(Litmus, Rule17_no_order_without_fence_in_failure) {
  Litmus litmus = swap_then_write_in_doubt(false);
  litmus.allowed.insert(litmus.allowed.end(),
                        {{0x001, "the WRITE applied, and not the CAS before it"},
                         {0x011, "both applied, and the CAS not known to be"}});
  verify(litmus);
}

// The fabric owns a buffer until the completion, even if the completion reports a failure.
TEST(Litmus, Rule17_local_buffer_is_free_after_failure) {
  Litmus litmus;
  litmus.server = break_at_random;
  litmus.clients = {[](Party& client) {
    const std::uint64_t expected = client.host().random(2);  // the CAS may succeed or fail
    const auto swap = client.compare_and_swap(x, expected, 2);
    const auto write = client.write(y, {1});
    client.post({swap, write});
    client.finish();
    client.trial().seen[0] = swap.local.offset / fabric::word_bytes;
    client.store(client.trial().seen[0], 7);
    client.store(write.local.offset / fabric::word_bytes, 7);
  }};
  litmus.outcome = [](Trial& trial) {
    return digits(trial.client().final_word(trial.seen[0]), trial.final_word(y));
  };
  litmus.allowed = {{0x70, "the WRITE was not applied"}, {0x71, "the WRITE was applied"}};
  litmus.forbidden = "a local buffer used after the completion";
  verify(litmus);
}

TEST(Litmus, Rule18_flushed_does_not_mean_not_executed) {
  Litmus litmus;
  litmus.server = break_at_random;
  litmus.clients = {[](Party& client) {
    const auto first = client.write(x, {1});
    const auto second = client.write(y, {1});
    client.post({first, second});
    client.finish();
    client.trial().seen[0] = static_cast<std::uint64_t>(client.status(first));
    client.trial().seen[1] = static_cast<std::uint64_t>(client.status(second));
  }};
  litmus.outcome = [](Trial& trial) {
    return seen_digits(trial, 2) << 4U | digits(trial.final_word(y));
  };
  litmus.allowed = {{0x001, "both succeeded"},
                    {0x040, "the second failed and was not executed"},
                    {0x041, "the second failed and was executed"},
                    {0x460, "the second was flushed and not executed"},
                    {0x461, "the second was flushed and executed"},
                    {0x660, "both posted too late"}};
  litmus.forbidden = "other statuses, or success without effect";
  verify(litmus);
}

namespace {

// The device of either side completes the requests of a queue pair in error. Counts the completions
// whose defined fields are right, and those whose other fields are those of a success.
Litmus fail_on_both_sides() {
  Litmus litmus;
  litmus.server = [](Party& server) {
    server.post_receive(z);
    server.queue_pair().move_to_error();
    const auto failed = server.await_message();
    if (!failed) return;
    const bool is_defined = failed->id == z && failed->status == CompletionStatus::flushed &&
                            failed->queue_pair_number == server.queue_pair().number();
    const bool is_as_usual = failed->opcode == fabric::Opcode::receive &&
                             failed->length_bytes == 0 && !failed->immediate;
    server.trial().seen[0] = is_defined;
    server.trial().seen[1] = is_as_usual;
  };
  litmus.clients = {[](Party& client) {
    const auto write = client.write(x, {1});
    client.queue_pair().move_to_error();
    client.post({write});
    client.finish();
    const fabric::WorkCompletion& failed = client.last_failure();
    client.trial().seen[2] = failed.id == write.id && failed.status == CompletionStatus::flushed &&
                             failed.queue_pair_number == client.queue_pair().number();
    client.trial().seen[3] = failed.opcode == fabric::Opcode::write &&
                             failed.length_bytes == write.length_bytes && !failed.immediate;
  }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 4); };
  return litmus;
}

}  // namespace

TEST(Litmus, Rule18_failures_look_like_successes_by_default) {
  Litmus litmus = fail_on_both_sides();
  litmus.allowed = {{0x1111, "all fields"}};
  verify(litmus);
}

TEST(Litmus, Rule18_fields_of_a_failure_are_undefined_as_an_option) {
  Litmus litmus = fail_on_both_sides();
  litmus.options.undefined_failure_fields = true;
  litmus.allowed = {{0x1010, "id, status and queue pair number"}};
  verify(litmus);
}

namespace {

// A request has completed when its queue pair is closed. The outcome: it can be polled.
Litmus close_before_polling() {
  Litmus litmus;
  litmus.clients = {[](Party& client) {
    client.queue_pair().move_to_error();
    client.post({client.write(x, {1})});
    client.host().sleep_until(client.host().now_ns() + fabric::second_ns);
    client.queue_pair().close();
    client.trial().seen[0] = client.has_completion();
    client.trial().seen[1] = client.has_completion();
  }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  return litmus;
}

}  // namespace

TEST(Litmus, Rule18_completions_of_a_closed_queue_pair_are_lost) {
  Litmus litmus = close_before_polling();
  litmus.allowed = {{0x00, "nothing to poll"}};
  verify(litmus);
}

TEST(Litmus, Rule18_completions_outlive_the_queue_pair_as_an_option) {
  Litmus litmus = close_before_polling();
  litmus.options.completions_outlive_queue_pair = true;
  litmus.allowed = {{0x10, "the completion, once"}};
  verify(litmus);
}

TEST(Litmus, Rule18_what_is_posted_afterwards_is_flushed) {
  Litmus litmus;
  litmus.clients = {[](Party& client) {
    const auto first = client.write(y, {1});
    const auto second = client.write(x, {1});
    client.post({first});
    if (client.host().random(2) == 0) {
      client.queue_pair().move_to_error();
    } else {
      client.trial().simulation().break_connection(client_names[0]);
    }
    client.post({second});
    client.finish();
    client.trial().seen[0] = static_cast<std::uint64_t>(client.status(first));
    client.trial().seen[1] = static_cast<std::uint64_t>(client.status(second));
  }};
  litmus.outcome = [](Trial& trial) {
    return seen_digits(trial, 2) << 8U | digits(trial.final_word(y), trial.final_word(x));
  };
  litmus.allowed = {{0x4600, "broken; the first was not executed"},
                    {0x4610, "broken; the first was executed"},
                    {0x6600, "moved to error; the first was not executed"},
                    {0x6610, "moved to error; the first was executed"}};
  litmus.forbidden = "an effect of what was posted to a queue pair in error";
  verify(litmus);
}

}  // namespace falafel::litmus
