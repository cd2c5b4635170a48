// Rules 24 to 26: the features and losses of UC and UD, and the checks of each request.
#include <gtest/gtest.h>

#include "tests/litmus/litmus.h"
#include "tests/litmus/words.h"

namespace falafel::litmus {
namespace {

using fabric::CompletionStatus;
using fabric::ErrorCode;
using fabric::Transport;

static_assert(static_cast<int>(CompletionStatus::remote_access_error) == 3 &&
                  static_cast<int>(CompletionStatus::retry_exceeded) == 4,
              "as the outcomes below have it");

constexpr std::uint64_t header_words = fabric::datagram_header_bytes / fabric::word_bytes;

// The number of packets of a WRITE of ones that landed; 15 unless they are whole packets from the
// first one on.
std::uint64_t landed_packets(Trial& trial, std::uint64_t packets) {
  std::uint64_t landed = 0;
  while (landed < packets * packet_words && trial.final_word(landed) == 1) ++landed;
  bool torn = landed % packet_words != 0;
  for (std::uint64_t word = landed; word < packets * packet_words; ++word) {
    torn = torn || trial.final_word(word) != 0;
  }
  return torn ? 15 : landed / packet_words;
}

bool refused_with(const fabric::Result<void>& result, ErrorCode code) {
  return !result.has_value() && result.error().code == code;
}

// Counts in seen[0] the kinds of requests that the transport does not support.
Program post_unsupported(bool writes_too) {
  return [writes_too](Party& client) {
    std::uint64_t& refused = client.trial().seen[0];
    for (const auto& request :
         {client.read(x), client.compare_and_swap(x, 0, 1), client.fetch_and_add(x, 1)}) {
      refused += refused_with(client.try_post({request}), ErrorCode::unsupported);
    }
    if (writes_too) {
      refused += refused_with(client.try_post({client.write(x, {1})}), ErrorCode::unsupported);
    }
  };
}

Litmus on(Transport transport, std::uint64_t loss_rate) {
  Litmus litmus;
  litmus.stage.queue_pair.transport = transport;
  litmus.options.mtu_bytes = small_mtu_bytes;
  litmus.options.set_fault_rate(sim::FaultKind::unreliable_loss, loss_rate);
  return litmus;
}

}  // namespace

TEST(Litmus, Rule24_no_read_and_no_atomic_on_uc) {
  Litmus litmus = on(Transport::unreliable_connection, 0);
  litmus.clients = {post_unsupported(false)};
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[0], trial.final_word(x)); };
  litmus.allowed = {{0x30, "all three refused"}};
  verify(litmus);
}

TEST(Litmus, Rule24_loss_leaves_a_torn_write_that_succeeded) {
  Litmus litmus = on(Transport::unreliable_connection, 4);
  litmus.stage.memory_words = 3 * packet_words;
  litmus.clients = {[](Party& client) {
    const auto write = client.fill(x, 1, 3 * packet_words);
    client.post({write});
    client.finish();
    client.trial().seen[0] = static_cast<std::uint64_t>(client.status(write));
  }};
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[0], landed_packets(trial, 3)); };
  litmus.allowed = {{0x00, "nothing landed"},
                    {0x01, "one packet landed"},
                    {0x02, "two packets landed"},
                    {0x03, "all landed"}};
  litmus.forbidden = "a failure that the sender sees, or a torn packet";
  verify(litmus);
}

TEST(Litmus, Rule24_immediate_arrives_only_with_all_data) {
  Litmus litmus = on(Transport::unreliable_connection, 4);
  litmus.stage.memory_words = 3 * packet_words;
  litmus.stage.prepare_server = [](Party& server) { server.post_receive(0, 0); };
  litmus.server = [](Party& server) {
    const auto message = server.await_message(server.host().now_ns() + 1'000'000'000);
    server.trial().seen[0] = message.has_value();
    if (message) server.trial().seen[1] = message->immediate.value_or(0);
  };
  litmus.clients = {
      [](Party& client) { client.post({with_immediate(client.fill(x, 1, 2 * packet_words), 5)}); }};
  litmus.outcome = [](Trial& trial) {
    return digits(trial.seen[0], trial.seen[1], landed_packets(trial, 2));
  };
  litmus.allowed = {{0x000, "nothing landed"},
                    {0x001, "one packet landed"},
                    {0x152, "the number and both packets"}};
  litmus.forbidden = "a number without all of its data";
  verify(litmus);
}

TEST(Litmus, Rule24_what_arrives_is_in_order) {
  Litmus litmus = on(Transport::unreliable_connection, 4);
  litmus.server = [](Party& server) {
    server.post_receive(z);
    const auto message = server.await_message(server.host().now_ns() + 1'000'000'000);
    server.trial().seen[0] = message.has_value();
    server.trial().seen[1] = server.load(z);
    server.trial().seen[2] = server.load(x) + server.load(x + 1);
  };
  litmus.clients = {[](Party& client) {
    client.post({client.write(x, {1, 1}), client.send({1})});
  }};
  litmus.outcome = [](Trial& trial) {
    return seen_digits(trial, 3) << 4U | (trial.final_word(x) + trial.final_word(x + 1));
  };
  litmus.allowed = {{0x0000, "both lost"},
                    {0x0022, "the message lost"},
                    {0x1100, "the WRITE lost"},
                    {0x1122, "nothing lost"}};
  litmus.forbidden = "a message without its data, data without a message, or before the WRITE";
  verify(litmus);
}

TEST(Litmus, Rule25_ud_is_for_sends_of_one_packet) {
  Litmus litmus = on(Transport::unreliable_datagram, 0);
  litmus.stage.memory_words = 3 * packet_words;
  litmus.clients = {[](Party& client) {
    post_unsupported(true)(client);
    auto send = client.send({1});
    send.length_bytes = small_mtu_bytes + 1;
    const auto refused = client.try_post({send});
    client.trial().seen[0] += refused_with(refused, ErrorCode::unsupported);
    send.length_bytes = small_mtu_bytes;
    client.trial().seen[1] = client.try_post({send}).has_value();
  }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {{0x51, "READ, CAS, FETCH_ADD, WRITE and a longer SEND refused"}};
  verify(litmus);
}

namespace {

// Two datagrams: what the server receives, in order of arrival.
Litmus two_datagrams(std::uint64_t loss_rate, std::uint64_t reordering_rate) {
  Litmus litmus = on(Transport::unreliable_datagram, loss_rate);
  litmus.options.set_fault_rate(sim::FaultKind::datagram_reordering, reordering_rate);
  litmus.stage.memory_words = 4 * (header_words + 1);
  litmus.stage.prepare_server = [](Party& server) {
    for (std::uint64_t slot = 0; slot < 3; ++slot) {
      server.post_receive(slot * (header_words + 1), header_words + 1);
    }
  };
  litmus.server = [](Party& server) {
    std::uint64_t& received = server.trial().seen[0];
    const std::uint64_t deadline_ns = server.host().now_ns() + 1'000'000'000;
    while (const auto message = server.await_message(deadline_ns)) {
      received = received << 4U | server.load(message->id + header_words);
    }
  };
  litmus.clients = {[](Party& client) {
    const auto first = client.send({1});
    const auto second = client.send({2});
    client.post({first, second});
    client.finish();
    client.trial().seen[1] = client.status(first) != CompletionStatus::success ||
                             client.status(second) != CompletionStatus::success;
  }};
  litmus.outcome = [](Trial& trial) { return trial.seen[1] << 12U | trial.seen[0]; };
  litmus.allowed = {{0x12, "both in order"}};
  return litmus;
}

}  // namespace

TEST(Litmus, Rule25_datagrams_are_lost) {
  Litmus litmus = two_datagrams(3, 0);
  litmus.allowed.insert(litmus.allowed.end(),
                        {{0x1, "the second lost"}, {0x2, "the first lost"}, {0x0, "both lost"}});
  litmus.forbidden = "a datagram twice, out of order, or a failure that the sender sees";
  verify(litmus);
}

TEST(Litmus, Rule25_datagrams_are_reordered) {
  Litmus litmus = two_datagrams(0, 3);
  litmus.allowed.push_back({0x21, "the second overtook the first"});
  litmus.forbidden = "a datagram twice or not at all";
  verify(litmus);
}

namespace {

// The access right of a request with three packets ends during the request.
Litmus right_ends(bool is_write) {
  Litmus litmus;
  litmus.options.mtu_bytes = small_mtu_bytes;
  litmus.stage.memory_words = 3 * packet_words;
  litmus.server = [](Party& server) {
    server.yield_at_random(most_yields);
    if (server.host().random(2) == 0) {
      server.region().revoke();
    } else {
      server.region().change_access({.local_write = true});
    }
  };
  litmus.clients = {[is_write](Party& client) {
    const auto request =
        is_write ? client.fill(x, 1, 3 * packet_words) : client.read(x, 3 * packet_words);
    client.post({request});
    client.finish();
    client.trial().seen[0] = static_cast<std::uint64_t>(client.status(request));
  }};
  return litmus;
}

}  // namespace

TEST(Litmus, Rule26_read_fails_midway) {
  Litmus litmus = right_ends(false);
  litmus.outcome = [](Trial& trial) {
    constexpr auto midway = static_cast<std::size_t>(sim::SimulatorProbe::access_revoked_midway);
    return digits(trial.seen[0], trial.result.simulator_probes[midway]);
  };
  litmus.allowed = {
      {0x00, "done in time"}, {0x30, "refused from the start"}, {0x31, "refused midway"}};
  verify(litmus);
}

TEST(Litmus, Rule26_write_fails_midway) {
  Litmus litmus = right_ends(true);
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[0], landed_packets(trial, 3)); };
  litmus.allowed = {{0x03, "done in time"},
                    {0x30, "refused from the start"},
                    {0x31, "one packet landed"},
                    {0x32, "two packets landed"}};
  litmus.forbidden = "success in part, or a part that is not whole packets from the first on";
  verify(litmus);
}

TEST(Litmus, Rule26_nothing_is_admitted_after_the_right_has_ended) {
  Litmus litmus;
  litmus.server = [](Party& server) {
    server.yield_at_random(most_yields);
    server.region().revoke();
    server.trial().tell(0, 1);
  };
  litmus.clients = {[](Party& client) {
    client.yield_at_random(most_yields);
    client.trial().seen[1] = client.trial().told(0);
    const auto request =
        client.host().random(2) == 0 ? client.write(x, {1}) : client.fetch_and_add(x, 1);
    client.post({request});
    client.finish();
    client.trial().seen[2] = static_cast<std::uint64_t>(client.status(request));
  }};
  litmus.outcome = [](Trial& trial) {
    return seen_digits(trial, 2, 1) << 4U | trial.final_word(x);
  };
  litmus.allowed = {{0x001, "posted before; in time"},
                    {0x030, "posted before; too late"},
                    {0x130, "posted afterwards; refused"}};
  litmus.forbidden = "an effect of what was posted after the right had ended";
  verify(litmus);
}

// A WRITE with immediate that found no receive request arrives again, and is checked again.
TEST(Litmus, Rule26_a_repeated_attempt_is_checked_again) {
  Litmus litmus;
  litmus.stage.queue_pair.receiver_not_ready_retry_count = 1;
  litmus.server = [](Party& server) {
    server.yield_at_random(most_yields);
    server.region().revoke();
    server.post_receive(0, 0);
    const auto received = server.await_message(server.host().now_ns() + 1'000'000'000);
    const bool has_number = received && received->status == CompletionStatus::success;
    server.trial().seen[0] = has_number ? received->immediate.value_or(0) : 0;
  };
  litmus.clients = {[](Party& client) {
    const auto write = with_immediate(client.write(x, {1}), 5);
    client.post({write});
    client.finish();
    client.trial().seen[1] = static_cast<std::uint64_t>(client.status(write));
  }};
  litmus.outcome = [](Trial& trial) {
    return seen_digits(trial, 2) << 4U | digits(trial.final_word(x));
  };
  litmus.allowed = {{0x030, "refused"},
                    {0x031, "refused, the data came in time"},
                    {0x050, "not ready in any attempt"},
                    {0x051, "not ready, the data came in time"}};
  litmus.forbidden = "a number that arrives after the right has ended";
  verify(litmus);
}

// The first packet contains the length of the whole request, so no packet of such a WRITE lands.
TEST(Litmus, Rule26_bounds_are_those_of_the_whole_request) {
  Litmus litmus;
  litmus.options.mtu_bytes = small_mtu_bytes;
  litmus.stage.memory_words = 3 * packet_words;  // the WRITE ends one packet beyond
  litmus.server = [](Party& server) {
    server.yield_at_random(most_yields);
    server.trial().simulation().break_connection(client_names[0]);
  };
  litmus.clients = {[](Party& client) {
    const auto write = client.fill(packet_words, 1, 3 * packet_words);
    client.post({write});
    client.finish();
    client.trial().seen[0] = static_cast<std::uint64_t>(client.status(write));
  }};
  litmus.outcome = [](Trial& trial) {
    return digits(trial.seen[0], trial.final_word(packet_words));
  };
  litmus.allowed = {{0x30, "refused"}, {0x40, "broken before"}, {0x60, "posted too late"}};
  litmus.forbidden = "a part of a WRITE that reaches past its region";
  verify(litmus);
}

namespace {

// A WRITE of four packets to a region that has room for two.
Litmus write_beyond_region() {
  Litmus litmus;
  litmus.options.mtu_bytes = small_mtu_bytes;
  litmus.options.bounds_per_packet = true;
  litmus.stage.memory_words = 4 * packet_words;
  litmus.stage.prepare_server = [](Party& server) {
    server.add_region(x, 2 * packet_words, every_right, server.domain());
  };
  litmus.clients = {[](Party& client) {
    auto write = client.fill(x, 1, 4 * packet_words);
    write.remote.key = client.trial().server().region(1).remote_key();
    client.post({write});
    client.finish();
    client.trial().seen[0] = static_cast<std::uint64_t>(client.status(write));
  }};
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[0], landed_packets(trial, 4)); };
  return litmus;
}

}  // namespace

TEST(Litmus, Rule26_bounds_of_each_packet_are_an_option) {
  Litmus litmus = write_beyond_region();
  litmus.allowed = {{0x32, "refused, the packets within the region landed"}};
  litmus.forbidden = "fewer packets than the region holds, or a byte beyond it";
  verify(litmus);
}

TEST(Litmus, Rule26_no_failure_carries_a_packet_beyond_its_region) {
  Litmus litmus = write_beyond_region();
  litmus.server = [](Party& server) {
    server.yield_at_random(most_yields);
    server.trial().simulation().break_connection(client_names[0]);
  };
  litmus.allowed = {{0x32, "refused, the packets within the region landed"},
                    {0x40, "broken before"},
                    {0x41, "broken after a packet"},
                    {0x42, "broken after both"},
                    {0x60, "posted too late"}};
  litmus.forbidden = "a packet beyond the region";
  verify(litmus);
}

TEST(Litmus, Rule26_inline_is_for_short_writes_and_sends) {
  Litmus litmus;
  litmus.options.max_inline_bytes = 64;
  litmus.stage.queue_pair.max_inline_bytes = 16;
  litmus.server = [](Party& server) { server.post_receive(z, 2); };
  litmus.clients = {[](Party& client) {
    const auto refused = [&client](const fabric::WorkRequest& request) {
      return refused_with(client.try_post({inlined(request)}), ErrorCode::invalid_argument);
    };
    client.trial().seen[0] = client.host().device(0).attributes().max_inline_bytes == 64;
    client.trial().seen[1] = refused(client.read(x));
    client.trial().seen[2] = refused(client.compare_and_swap(x, 0, 1));
    client.trial().seen[3] = refused(client.write(x, {1, 1, 1}));
    client.post({inlined(client.write(x, {1, 1})), inlined(client.send({1, 1}))});
    client.finish();
  }};
  litmus.outcome = [](Trial& trial) {
    return seen_digits(trial, 4) << 8U | digits(trial.final_word(x) + trial.final_word(x + 1),
                                                trial.final_word(z) + trial.final_word(z + 1));
  };
  litmus.allowed = {{0x111122, "READ, CAS and a longer WRITE refused; WRITE and SEND done"}};
  verify(litmus);
}

}  // namespace falafel::litmus
