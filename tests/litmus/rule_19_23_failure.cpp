// Rules 19 to 23: refused access, slow failure detection, a crash of either side, and a missing
// receive request.
#include <gtest/gtest.h>

#include "tests/litmus/litmus.h"
#include "tests/litmus/words.h"

namespace falafel::litmus {
namespace {

using fabric::CompletionStatus;

static_assert(static_cast<int>(CompletionStatus::remote_access_error) == 3 &&
                  static_cast<int>(CompletionStatus::retry_exceeded) == 4 &&
                  static_cast<int>(CompletionStatus::receiver_not_ready_exceeded) == 5 &&
                  static_cast<int>(CompletionStatus::flushed) == 6,
              "as the outcomes below have it");

// Requests that the server refuses, each for a different reason. Word z is outside all other
// regions.
constexpr std::uint64_t reasons_to_refuse = 6;
constexpr fabric::Access read_only{.remote_read = true};

struct ExtraRegions {
  std::size_t read_only = 0;
  std::size_t foreign = 0;
  std::size_t revoked = 0;
  std::size_t small = 0;
};
constexpr ExtraRegions extra{.read_only = 1, .foreign = 2, .revoked = 3, .small = 4};

void register_extra_regions(Party& server) {
  server.add_region(z, 1, read_only, server.domain());
  server.add_region(z, 1, every_right, server.add_domain());
  server.add_region(z, 1, every_right, server.domain());
  server.region(extra.revoked).revoke();
  server.add_region(x, 1, every_right, server.domain());
}

fabric::WorkRequest refused_request(Party& client) {
  auto request = client.host().random(2) == 0 ? client.write(z, {9}) : client.fetch_and_add(z, 9);
  const Party& server = client.trial().server();
  switch (client.host().random(reasons_to_refuse)) {
    case 0: request.remote.key += 1'000; break;
    case 1: request.remote.key = server.region(extra.read_only).remote_key(); break;
    case 2: request.remote.key = server.region(extra.foreign).remote_key(); break;
    case 3: request.remote.key = server.region(extra.revoked).remote_key(); break;
    case 4: request.remote.key = server.region(extra.small).remote_key(); break;
    default: request.remote.offset = std::uint64_t{1} << 40U; break;
  }
  return request;
}

}  // namespace

TEST(Litmus, Rule19_refused_access_breaks_both_sides) {
  Litmus litmus;
  litmus.stage.prepare_server = register_extra_regions;
  litmus.clients = {[](Party& client) {
    const auto before = client.host().random(2) == 0 ? client.write(x, {1}) : client.read(x);
    const auto refused = refused_request(client);
    const auto after = client.write(y, {1});
    client.post({before, refused, after});
    client.finish();
    client.trial().seen[0] = static_cast<std::uint64_t>(client.status(before));
    client.trial().seen[1] = static_cast<std::uint64_t>(client.status(refused));
    client.trial().seen[2] = static_cast<std::uint64_t>(client.status(after));
  }};
  litmus.outcome = [](Trial& trial) {
    const auto in_error = [](const Party& party) {
      return party.queue_pair().state() == fabric::QueuePairState::error;
    };
    return seen_digits(trial, 3) << 16U |
           digits(trial.final_word(z), in_error(trial.client()), in_error(trial.server()),
                  trial.server().has_completion());
  };
  litmus.allowed = {{0x036'0110, "success, access error, flushed; both sides in error"}};
  litmus.forbidden = "an effect of what was refused, other statuses, or a completion at the server";
  verify(litmus);
}

// With the default options, detection takes four seconds.
namespace {

// The server dies. The outcome: success, or how long the failure took at least, compared with all
// retries.
Litmus read_of_dead_server() {
  Litmus litmus;
  litmus.server = [](Party& server) {
    server.yield_at_random(most_yields);
    server.trial().simulation().crash(server_name);
  };
  litmus.clients = {[](Party& client) {
    client.yield_at_random(most_yields);
    const std::uint64_t posted_ns = client.host().now_ns();
    const auto read = client.read(x);
    client.post({read});
    client.finish();
    const std::uint64_t waited_ns = client.host().now_ns() - posted_ns;
    const fabric::QueuePairOptions& options = client.trial().stage().queue_pair;
    const std::uint64_t limit_ns = (options.retry_count + 1) * options.acknowledge_timeout_ns;
    client.trial().seen[0] = client.status(read) == CompletionStatus::success;
    client.trial().seen[1] = waited_ns >= limit_ns;
    client.trial().seen[2] = waited_ns >= 2 * limit_ns;
  }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 3); };
  return litmus;
}

}  // namespace

TEST(Litmus, Rule20_detection_takes_all_retries) {
  Litmus litmus = read_of_dead_server();
  litmus.allowed = {{0x100, "answered in time"}, {0x010, "given up after all retries"}};
  litmus.forbidden = "given up early, or much too late";
  verify(litmus);
}

TEST(Litmus, Rule20_detection_takes_longer_as_an_option) {
  Litmus litmus = read_of_dead_server();
  litmus.options.slowest_detection = 3;
  litmus.allowed = {{0x100, "answered in time"},
                    {0x010, "given up after all retries"},
                    {0x011, "given up later"}};
  litmus.forbidden = "given up early";
  verify(litmus);
}

namespace {

// The client posts a WRITE or a CAS and crashes at once, and tells of the crash.
void post_and_die(Party& client) {
  client.post(
      {client.host().random(2) == 0 ? client.write(x, {1}) : client.compare_and_swap(x, 0, 1)});
  client.yield_at_random(2);
  client.trial().tell(0, 1);
  client.trial().simulation().crash(client_names[0]);
  client.host().yield();
}

}  // namespace

TEST(Litmus, Rule21_requests_of_the_dead_still_execute) {
  Litmus litmus;
  litmus.server = [](Party& server) {
    server.yield_at_random(most_yields);
    const std::uint64_t dead = server.trial().told(0);
    server.trial().seen[1] = server.load(x);
    server.trial().seen[2] = dead;
  };
  litmus.clients = {post_and_die};
  litmus.outcome = [](Trial& trial) {
    return digits(trial.seen[2], trial.seen[1], trial.final_word(x));
  };
  litmus.allowed = {{0x000, "looked early; lost"},
                    {0x001, "looked early; executed later"},
                    {0x011, "looked early; executed already"},
                    {0x100, "client dead; lost"},
                    {0x101, "client dead; executed afterwards"},
                    {0x111, "client dead; executed already"}};
  litmus.forbidden = "an effect that vanishes";
  verify(litmus);
}

namespace {

// After the server has detected the crash, it fences the queue pair and reuses the memory.
Litmus reuse_after_death(bool wait_for_flush) {
  Litmus litmus;
  litmus.server = [wait_for_flush](Party& server) {
    server.yield_at_random(most_yields);
    if (server.trial().told(0) == 0) return;
    const bool post_before = server.host().random(2) == 0;
    if (post_before) server.post_receive(z);
    server.queue_pair().move_to_error();
    if (!post_before) server.post_receive(z);
    if (wait_for_flush) server.await_message();
    server.store(x, 5);
    server.trial().seen[1] = 1;
  };
  litmus.clients = {post_and_die};
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[1], trial.final_word(x)); };
  litmus.allowed = {{0x00, "not reused; lost"}, {0x01, "not reused; executed"}, {0x15, "reused"}};
  return litmus;
}

}  // namespace

TEST(Litmus, Rule21_reuse_after_the_flush_is_safe) {
  Litmus litmus = reuse_after_death(true);
  litmus.forbidden = "reused memory overwritten by the dead";
  verify(litmus);
}

TEST(Litmus, Rule21_reuse_before_the_flush_is_not) {
  Litmus litmus = reuse_after_death(false);
  litmus.allowed.push_back({0x11, "what had been admitted landed in reused memory"});
  verify(litmus);
}

namespace {

// The connection breaks, which the server detects through a request of its own. It then reuses the
// memory.
Litmus reuse_after_failure(bool wait_for_flush) {
  Litmus litmus;
  litmus.options.failure_before_landing = true;
  litmus.server = [wait_for_flush](Party& server) {
    server.post({server.send({1})});  // the client has no receive request for it
    server.post_receive(z);
    server.yield_at_random(most_yields);
    server.trial().simulation().break_connection(server_name);
    server.finish();
    if (wait_for_flush) server.await_message();
    server.store(x, 5);
  };
  litmus.clients = {[](Party& client) { client.post({client.write(x, {1})}); }};
  litmus.outcome = [](Trial& trial) { return digits(trial.final_word(x)); };
  litmus.allowed = {{5, "reused"}};
  return litmus;
}

}  // namespace

TEST(Litmus, Rule21_first_failure_is_no_flush) {
  Litmus litmus = reuse_after_failure(false);
  litmus.allowed.push_back({1, "what had been admitted landed in reused memory"});
  verify(litmus);
}

TEST(Litmus, Rule21_flush_behind_a_failure_waits) {
  Litmus litmus = reuse_after_failure(true);
  litmus.forbidden = "reused memory overwritten by what had been admitted";
  verify(litmus);
}

// The second of two packets is lost, and a word has bytes of both.
TEST(Litmus, Rule21_nothing_of_a_shared_word_lands_after_the_flush) {
  Litmus litmus;
  litmus.options.mtu_bytes = small_mtu_bytes;
  litmus.server = [](Party& server) {
    server.yield_at_random(most_yields);
    server.post_receive(z);
    server.queue_pair().move_to_error();
    server.await_message();
    server.store(packet_words, 5);
  };
  litmus.clients = {[](Party& client) {
    auto write = client.write(x, {1, 1, 1});
    write.remote.offset += fabric::word_bytes / 2;
    client.post({write});
    client.finish();
  }};
  litmus.outcome = [](Trial& trial) { return digits(trial.final_word(packet_words)); };
  litmus.allowed = {{5, "reused"}};
  litmus.forbidden = "reused memory overwritten by a part of a word";
  verify(litmus);
}

// A READ that a fence interrupts returns nothing of the memory's later contents.
TEST(Litmus, Rule21_reads_end_with_the_flush) {
  Litmus litmus;
  litmus.server = [](Party& server) {
    server.yield_at_random(most_yields);
    server.post_receive(z);
    server.queue_pair().move_to_error();
    server.await_message();
    server.store(x, 5);
    server.store(x + 1, 5);
  };
  litmus.clients = {[](Party& client) {
    const auto read = client.read(x, 2);
    client.post({read});
    client.finish();
    client.trial().seen[0] = client.status(read) == CompletionStatus::success;
    if (client.trial().seen[0] == 0) return;
    client.trial().seen[1] = client.result(read, 0) + client.result(read, 1);
  }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {{0x10, "answered before the fence"}, {0x00, "failed"}};
  litmus.forbidden = "success, with what was stored after the flush";
  verify(litmus);
}

namespace {

// The client's observations if its server fails in different ways.
Litmus failing_server(std::function<void(Party&)> fail) {
  Litmus litmus;
  litmus.server = [fail = std::move(fail)](Party& server) {
    server.yield_at_random(most_yields);
    fail(server);
  };
  litmus.clients = {[](Party& client) {
    const auto write = client.write(x, {1});
    const auto read = client.read(x);
    client.post({write, read});
    client.finish();
    client.trial().seen[0] = static_cast<std::uint64_t>(client.status(write));
    client.trial().seen[1] = static_cast<std::uint64_t>(client.status(read));
  }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {{0x00, "answered in time"},
                    {0x04, "the READ failed: retry exceeded"},
                    {0x46, "the WRITE failed: retry exceeded; the READ was flushed"}};
  litmus.forbidden = "another status, which would tell what had happened to the server";
  return litmus;
}

}  // namespace

TEST(Litmus, Rule22_death_of_the_server_is_silence) {
  verify(failing_server([](Party& server) { server.trial().simulation().crash(server_name); }));
}

TEST(Litmus, Rule22_error_at_the_server_is_silence_too) {
  verify(failing_server([](Party& server) { server.queue_pair().move_to_error(); }));
}

namespace {

// A WRITE, a SEND and a WRITE reach a server that is or is not ready to receive.
Litmus send_needs_receive(std::uint32_t retries, Program server) {
  Litmus litmus;
  litmus.stage.queue_pair.receiver_not_ready_retry_count = retries;
  litmus.server = std::move(server);
  litmus.clients = {[](Party& client) {
    const auto before = client.write(x, {1});
    const auto send = client.send({1});
    const auto after = client.write(y, {1});
    client.post({before, send, after});
    client.finish();
    client.trial().seen[0] = static_cast<std::uint64_t>(client.status(before));
    client.trial().seen[1] = static_cast<std::uint64_t>(client.status(send));
    client.trial().seen[2] = static_cast<std::uint64_t>(client.status(after));
  }};
  litmus.outcome = [](Trial& trial) {
    return seen_digits(trial, 3) << 12U |
           digits(trial.final_word(x), trial.final_word(z), trial.final_word(y));
  };
  return litmus;
}

}  // namespace

TEST(Litmus, Rule23_endless_retries_wait) {
  Litmus litmus = send_needs_receive(7, [](Party& server) {
    constexpr std::uint64_t one_hour_ns = 3'600'000'000'000;
    if (server.host().random(2) == 0) server.host().sleep_until(one_hour_ns);
    server.post_receive(z);
  });
  litmus.allowed = {{0x000'111, "everything succeeds, however late the receive request"}};
  litmus.forbidden = "a SEND that fails for want of a receive request";
  verify(litmus);
}

TEST(Litmus, Rule23_limited_retries_fail) {
  Litmus litmus = send_needs_receive(1, [](Party& server) {
    server.yield_at_random(most_yields);
    server.post_receive(z);
  });
  litmus.allowed = {{0x000'111, "the receive request came in time"},
                    {0x056'100, "not ready; the WRITE before it is not concerned"}};
  litmus.forbidden = "a WRITE that needs a receive request, or one that passes a failed SEND";
  verify(litmus);
}

namespace {

// A WRITE with immediate and then a WRITE. The outcome: the data, the statuses, and whether the
// number arrived.
Litmus immediate_needs_receive(std::uint32_t retry_count, Program server) {
  Litmus litmus;
  litmus.stage.queue_pair.receiver_not_ready_retry_count = retry_count;
  litmus.server = std::move(server);
  litmus.clients = {[](Party& client) {
    const auto first = with_immediate(client.write(x, {1}), 5);
    const auto second = client.write(y, {1});
    client.post({first, second});
    client.finish();
    client.trial().seen[1] = static_cast<std::uint64_t>(client.status(first));
    client.trial().seen[2] = static_cast<std::uint64_t>(client.status(second));
  }};
  litmus.outcome = [](Trial& trial) {
    return digits(trial.seen[0], trial.seen[1], trial.seen[2], trial.final_word(x),
                  trial.final_word(y));
  };
  return litmus;
}

}  // namespace

TEST(Litmus, Rule23_immediate_waits_endlessly) {
  Litmus litmus = immediate_needs_receive(7, [](Party& server) {
    constexpr std::uint64_t one_hour_ns = 3'600'000'000'000;
    if (server.host().random(2) == 0) server.host().sleep_until(one_hour_ns);
    server.post_receive(z);
    server.trial().seen[0] = server.await_message()->immediate.value_or(0);
  });
  litmus.allowed = {{0x50'011, "everything succeeds, however late the receive request"}};
  litmus.forbidden = "a WRITE with immediate that fails for want of a receive request";
  verify(litmus);
}

TEST(Litmus, Rule23_immediate_fails_after_limited_retries) {
  Litmus litmus = immediate_needs_receive(1, [](Party& server) {
    server.yield_at_random(most_yields);
    server.post_receive(z);
    const auto received = server.await_message(1'000'000'000);
    if (received) server.trial().seen[0] = received->immediate.value_or(0);
  });
  litmus.allowed = {{0x50'011, "the receive request came in time"},
                    {0x05'600, "not ready; the data did not land"},
                    {0x05'610, "not ready; the data landed all the same"}};
  litmus.forbidden = "a number without its data, or a WRITE that passes the failed one";
  verify(litmus);
}

// The data may be there before the receive request is.
TEST(Litmus, Rule23_data_may_land_before_the_receive_request) {
  Litmus litmus = immediate_needs_receive(7, [](Party& server) {
    server.yield_at_random(most_yields);
    server.trial().seen[0] = server.load(x);
    server.post_receive(z);
  });
  litmus.allowed = {{0x00'011, "not landed yet"}, {0x10'011, "landed"}};
  verify(litmus);
}

}  // namespace falafel::litmus
