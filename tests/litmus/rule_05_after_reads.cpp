// Rule 5, second half of the table: a READ or atomic precedes a later WRITE, atomic or SEND only if
// the later request is fenced. Each test covers one cell, with or without the fence.
#include <gtest/gtest.h>

#include "tests/litmus/litmus.h"

namespace falafel::litmus {

namespace {

Litmus read_then_write(bool fence) {
  Litmus litmus;
  litmus.clients = {[fence](Party& client) {
    const auto sample = client.read(x);
    const auto write = client.write(x, {1});
    client.post({sample, fence ? fenced(write) : write});
    client.finish();
    client.trial().seen[0] = client.result(sample);
  }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 1); };
  litmus.allowed = {{0, "READ before WRITE"}};
  return litmus;
}

}  // namespace

TEST(Litmus, Rule05_write_may_overtake_read) {
  Litmus litmus = read_then_write(false);
  litmus.allowed.push_back({1, "the WRITE overtook the READ"});
  verify(litmus);
}

TEST(Litmus, Rule05_fenced_write_waits_for_read) {
  Litmus litmus = read_then_write(true);
  litmus.forbidden = "a READ that sees a later, fenced WRITE";
  verify(litmus);
}

namespace {

Litmus read_then_atomic(bool fence) {
  Litmus litmus;
  litmus.clients = {[fence](Party& client) {
    const auto sample = client.read(x);
    const bool add = client.host().random(2) == 0;
    const auto atomic = add ? client.fetch_and_add(x, 1) : client.compare_and_swap(x, 0, 1);
    client.post({sample, fence ? fenced(atomic) : atomic});
    client.finish();
    client.trial().seen[0] = client.result(sample);
  }};
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[0], trial.final_word(x)); };
  litmus.allowed = {{0x01, "READ before atomic"}};
  return litmus;
}

}  // namespace

TEST(Litmus, Rule05_atomic_may_overtake_read) {
  Litmus litmus = read_then_atomic(false);
  litmus.allowed.push_back({0x11, "the atomic overtook the READ"});
  verify(litmus);
}

TEST(Litmus, Rule05_fenced_atomic_waits_for_read) {
  Litmus litmus = read_then_atomic(true);
  litmus.forbidden = "a READ that sees a later, fenced atomic";
  verify(litmus);
}

namespace {

// The server answers the message with a store that the READ must not see.
Litmus read_then_send(bool fence) {
  Litmus litmus;
  litmus.server = [](Party& server) {
    server.post_receive(z);
    server.await_message();
    server.store(x, 1);
  };
  litmus.clients = {[fence](Party& client) {
    const auto sample = client.read(x);
    const auto send = client.send({1});
    client.post({sample, fence ? fenced(send) : send});
    client.finish();
    client.trial().seen[0] = client.result(sample);
  }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 1); };
  litmus.allowed = {{0, "READ before SEND"}};
  return litmus;
}

}  // namespace

TEST(Litmus, Rule05_send_may_overtake_read) {
  Litmus litmus = read_then_send(false);
  litmus.allowed.push_back({1, "the READ saw what the receiver did upon the message"});
  verify(litmus);
}

TEST(Litmus, Rule05_fenced_send_waits_for_read) {
  Litmus litmus = read_then_send(true);
  litmus.forbidden = "a message received before an earlier READ has sampled, in spite of a fence";
  verify(litmus);
}

TEST(Litmus, Rule05_atomics_then_read) {
  Litmus litmus;
  litmus.clients = {[](Party& client) {
    const auto sample = client.read(x, 3);
    client.post({client.compare_and_swap(x, 0, 1), client.fetch_and_add(y, 1), sample});
    client.finish();
    client.trial().seen[0] = client.result(sample, x);
    client.trial().seen[1] = client.result(sample, y);
  }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {{0x11, "the READ sees both atomics"}};
  litmus.forbidden = "a READ that misses an earlier atomic";
  verify(litmus);
}

namespace {

Litmus atomic_then_write(bool fence) {
  Litmus litmus;
  litmus.clients = {[fence](Party& client) {
    const auto swap = client.compare_and_swap(x, 0, 1);
    const auto write = client.write(x, {2});
    client.post({swap, fence ? fenced(write) : write});
    client.finish();
    client.trial().seen[0] = client.result(swap);
  }};
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[0], trial.final_word(x)); };
  litmus.allowed = {{0x02, "CAS before WRITE"}};
  return litmus;
}

Litmus atomic_then_atomic(bool fence) {
  Litmus litmus;
  litmus.clients = {[fence](Party& client) {
    const auto first = client.compare_and_swap(x, 0, 1);
    const auto second = client.compare_and_swap(x, 1, 2);
    client.post({first, fence ? fenced(second) : second});
    client.finish();
    client.trial().seen[0] = client.result(first);
    client.trial().seen[1] = client.result(second);
  }};
  litmus.outcome = [](Trial& trial) {
    return digits(trial.seen[0], trial.seen[1], trial.final_word(x));
  };
  litmus.allowed = {{0x012, "in order: the second finds what the first left"}};
  return litmus;
}

Litmus atomic_then_send(bool fence) {
  Litmus litmus;
  litmus.server = [](Party& server) {
    server.post_receive(z);
    server.await_message();
    server.trial().seen[0] = server.load(x);
  };
  litmus.clients = {[fence](Party& client) {
    const auto send = client.send({1});
    client.post({client.compare_and_swap(x, 0, 1), fence ? fenced(send) : send});
    client.finish();
  }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 1); };
  litmus.allowed = {{1, "the receiver sees the CAS"}};
  return litmus;
}

}  // namespace

TEST(Litmus, Rule05_write_may_overtake_atomic) {
  Litmus litmus = atomic_then_write(false);
  litmus.allowed.insert(litmus.allowed.end(),
                        {{0x22, "the WRITE overtook the CAS, which fails"},
                         {0x01, "the WRITE fell between the two halves of the CAS"}});
  verify(litmus);
}

TEST(Litmus, Rule05_fenced_write_waits_for_atomic) {
  Litmus litmus = atomic_then_write(true);
  litmus.forbidden = "a CAS that meets a later, fenced WRITE";
  verify(litmus);
}

TEST(Litmus, Rule05_atomic_may_overtake_atomic) {
  Litmus litmus = atomic_then_atomic(false);
  litmus.allowed.push_back({0x001, "the second overtook the first and failed"});
  verify(litmus);
}

TEST(Litmus, Rule05_fenced_atomic_waits_for_atomic) {
  Litmus litmus = atomic_then_atomic(true);
  litmus.forbidden = "a fenced CAS that misses an earlier one";
  verify(litmus);
}

TEST(Litmus, Rule05_send_may_overtake_atomic) {
  Litmus litmus = atomic_then_send(false);
  litmus.allowed.push_back({0, "the message overtook the CAS"});
  verify(litmus);
}

TEST(Litmus, Rule05_fenced_send_waits_for_atomic) {
  Litmus litmus = atomic_then_send(true);
  litmus.forbidden = "a fenced message received before an earlier CAS is in memory";
  verify(litmus);
}

}  // namespace falafel::litmus
