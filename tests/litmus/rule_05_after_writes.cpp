// Rule 5, first half of the table: WRITE and SEND precede everything that follows them on their
// queue pair. Each test covers one cell: a first request, a second one, and an observer that could
// see them in the wrong order.
#include <gtest/gtest.h>

#include "tests/litmus/litmus.h"

namespace falafel::litmus {

TEST(Litmus, Rule05_write_then_read) {
  Litmus litmus;
  litmus.clients = {[](Party& client) {
    const auto sample = client.read(x, 2);
    client.post({client.write(x, {1, 1}), sample});
    client.finish();
    client.trial().seen[0] = client.result(sample, 0);
    client.trial().seen[1] = client.result(sample, 1);
  }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {{0x11, "the READ sees the WRITE"}};
  litmus.forbidden = "a READ that misses an earlier WRITE";
  verify(litmus);
}

TEST(Litmus, Rule05_write_then_write) {
  Litmus litmus;
  litmus.server = [](Party& server) {
    server.trial().seen[0] = server.load(y);
    server.trial().seen[1] = server.load(x);
    server.trial().seen[2] = server.load(x + 1);
  };
  litmus.clients = {[](Party& client) {
    client.post({client.write(x, {1, 1}), client.write(y, {1}), client.write(x, {2})});
  }};
  litmus.outcome = [](Trial& trial) {
    const std::uint64_t second_seen = trial.seen[0];
    const bool first_seen = trial.seen[1] != 0 && trial.seen[2] == 1;
    return digits(second_seen, first_seen, trial.final_word(x));
  };
  litmus.allowed = {{0x002, "the processor saw nothing, or a part of the first WRITE"},
                    {0x012, "the processor saw the first WRITE"},
                    {0x112, "the processor saw both"}};
  litmus.forbidden = "the second WRITE in memory before the first, or an overwritten one last";
  verify(litmus);
}

TEST(Litmus, Rule05_write_then_send) {
  Litmus litmus;
  litmus.server = [](Party& server) {
    server.post_receive(z);
    server.await_message();
    server.trial().seen[0] = server.load(x);
    server.trial().seen[1] = server.load(x + 1);
  };
  litmus.clients = {[](Party& client) {
    client.post({client.write(x, {1, 1}), client.send({1})});
  }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {{0x11, "the receiver sees the WRITE"}};
  litmus.forbidden = "a message received before an earlier WRITE is in memory";
  verify(litmus);
}

TEST(Litmus, Rule05_send_then_read) {
  Litmus litmus;
  litmus.server = [](Party& server) { server.post_receive(z, 2); };
  litmus.clients = {[](Party& client) {
    const auto sample = client.read(z, 2);
    client.post({client.send({1, 1}), sample});
    client.finish();
    client.trial().seen[0] = client.result(sample, 0);
    client.trial().seen[1] = client.result(sample, 1);
  }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {{0x11, "the READ sees the message in the receive buffer"}};
  litmus.forbidden = "a READ that misses an earlier SEND";
  verify(litmus);
}

TEST(Litmus, Rule05_send_then_write) {
  Litmus litmus;
  litmus.server = [](Party& server) {
    server.post_receive(z, 2);
    server.trial().seen[0] = server.load(x);
    server.trial().seen[1] = server.load(z) + server.load(z + 1);
  };
  litmus.clients = {[](Party& client) {
    client.post({client.send({1, 1}), client.write(x, {1})});
  }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {
      {0x00, "neither in time"}, {0x02, "the message in time"}, {0x12, "both in time"}};
  litmus.tolerated = {{0x01, "a part of the message in time"}};
  litmus.forbidden = "a WRITE in memory before an earlier message";
  verify(litmus);
}

TEST(Litmus, Rule05_send_then_atomic) {
  Litmus litmus;
  litmus.server = [](Party& server) { server.post_receive(z); };
  litmus.clients = {[](Party& client) {
    const auto swap = client.compare_and_swap(z, 1, 2);
    client.post({client.send({1}), swap});
    client.finish();
    client.trial().seen[0] = client.result(swap);
  }};
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[0], trial.final_word(z)); };
  litmus.allowed = {{0x12, "the CAS finds the message in the receive buffer"}};
  litmus.forbidden = "a CAS before an earlier SEND";
  verify(litmus);
}

TEST(Litmus, Rule05_send_then_send) {
  Litmus litmus;
  litmus.server = [](Party& server) {
    server.post_receive(x);
    server.post_receive(y);
    server.trial().seen[0] = server.await_message()->id == x ? 1 : 2;
    server.trial().seen[1] = server.load(x);
    server.await_message();
  };
  litmus.clients = {[](Party& client) { client.post({client.send({1}), client.send({2})}); }};
  litmus.outcome = [](Trial& trial) {
    return digits(trial.seen[0], trial.seen[1], trial.final_word(x), trial.final_word(y));
  };
  litmus.allowed = {{0x1112, "messages arrive in order, into the receive buffers in order"}};
  litmus.forbidden = "messages out of order";
  verify(litmus);
}

}  // namespace falafel::litmus
