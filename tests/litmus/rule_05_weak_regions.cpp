// Rule 5 where a region asks for less order: WRITEs pass earlier WRITEs in memory, and READs too if
// it is unordered. What stays: atomics, messages, READs of a relaxed region, and completions.
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/litmus/litmus.h"
#include "tests/litmus/words.h"

namespace falafel::litmus {
namespace {

using fabric::RegionOrdering;

constexpr fabric::Access relaxed{.local_write = true,
                                 .remote_read = true,
                                 .remote_write = true,
                                 .remote_atomic = true,
                                 .relaxed_ordering = true};

// A test on a server whose regions all have this order.
Litmus on_regions(RegionOrdering ordering) {
  Litmus litmus;
  litmus.options.region_ordering = ordering;
  return litmus;
}

void load_y_then_x(Party& server) {
  server.trial().seen[0] = server.load(y);
  server.trial().seen[1] = server.load(x);
}

// WRITE x, something, WRITE y; the processor loads y, then x.
Litmus two_writes(RegionOrdering ordering) {
  Litmus litmus = on_regions(ordering);
  litmus.server = load_y_then_x;
  litmus.clients = {[](Party& client) {
    client.post({client.write(x, {1}), client.write(y, {1})});
  }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {{0x00, "the processor saw nothing"},
                    {0x01, "the processor saw the first WRITE"},
                    {0x11, "the processor saw both"}};
  return litmus;
}

constexpr AllowedOutcome second_write_first{0x10, "the second WRITE in memory before the first"};

// WRITE x, then a READ of x that saw this.
Litmus write_then_read(RegionOrdering ordering) {
  Litmus litmus = on_regions(ordering);
  litmus.clients = {[](Party& client) {
    const auto sample = client.read(x);
    client.post({client.write(x, {1}), sample});
    client.finish();
    client.trial().seen[0] = client.result(sample);
  }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 1); };
  litmus.allowed = {{0x1, "the READ finds the WRITE"}};
  litmus.forbidden = "a READ that misses an earlier WRITE";
  return litmus;
}

}  // namespace

TEST(Litmus, Rule05_relaxed_write_may_pass_write) {
  Litmus litmus = two_writes(RegionOrdering::relaxed);
  litmus.allowed.push_back(second_write_first);
  verify(litmus);
}

TEST(Litmus, Rule05_relaxed_write_may_be_overwritten_by_an_earlier_one) {
  Litmus litmus = on_regions(RegionOrdering::relaxed);
  litmus.clients = {[](Party& client) {
    client.post({client.write(x, {1}), client.write(x, {2})});
  }};
  litmus.outcome = [](Trial& trial) { return digits(trial.final_word(x)); };
  litmus.allowed = {{0x2, "in the order posted"}, {0x1, "the first WRITE is last"}};
  litmus.forbidden = "anything else";
  verify(litmus);
}

// One of the two regions is enough, whichever it is.
TEST(Litmus, Rule05_one_relaxed_region_suffices) {
  for (const std::uint64_t relaxed_word : {x, y}) {
    Litmus litmus = two_writes(RegionOrdering::strong);
    litmus.stage.prepare_server = [relaxed_word](Party& server) {
      server.add_region(relaxed_word, 1, relaxed, server.domain());
    };
    litmus.clients = {[relaxed_word](Party& client) {
      auto first = client.write(x, {1});
      auto second = client.write(y, {1});
      auto& other = relaxed_word == x ? first : second;
      other.remote.key = client.trial().server().region(1).remote_key();
      client.post({first, second});
    }};
    litmus.allowed.push_back(second_write_first);
    verify(litmus);
  }
}

// The rights of a region can be changed while it is in use.
TEST(Litmus, Rule05_relaxed_order_is_a_right) {
  for (const bool is_relaxed : {false, true}) {
    Litmus litmus = two_writes(RegionOrdering::strong);
    litmus.stage.prepare_server = [is_relaxed](Party& server) {
      must(server.region().change_access(relaxed));
      if (!is_relaxed) must(server.region().change_access(every_right));
    };
    if (is_relaxed) {
      litmus.allowed.push_back(second_write_first);
    } else {
      litmus.forbidden = "the second WRITE in memory before the first";
    }
    verify(litmus);
  }
}

TEST(Litmus, Rule05_relaxed_regions_have_no_address_order) {
  for (const RegionOrdering ordering : {RegionOrdering::strong, RegionOrdering::relaxed}) {
    Litmus litmus = on_regions(ordering);
    litmus.options.address_order = true;
    litmus.server = [](Party& server) {
      server.trial().seen[1] = server.load(x + 1);
      server.trial().seen[0] = server.load(x);
    };
    litmus.clients = {[](Party& client) { client.post({client.write(x, {1, 1})}); }};
    litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
    litmus.allowed = {{0x00, "before the WRITE"}, {0x10, "the first word"}, {0x11, "both words"}};
    if (ordering == RegionOrdering::relaxed) {
      litmus.allowed.push_back({0x01, "the last word without the first"});
    } else {
      litmus.forbidden = "the last word without the first";
    }
    verify(litmus);
  }
}

TEST(Litmus, Rule05_completion_orders_relaxed_writes) {
  Litmus litmus = two_writes(RegionOrdering::unordered);
  litmus.clients = {[](Party& client) {
    client.post({client.write(x, {1})});
    client.finish();
    client.post({client.write(y, {1})});
  }};
  litmus.forbidden = "a WRITE in memory before one that completed before it was posted";
  verify(litmus);
}

TEST(Litmus, Rule05_read_orders_relaxed_writes) {
  Litmus litmus = two_writes(RegionOrdering::relaxed);
  litmus.clients = {[](Party& client) {
    client.post({client.write(x, {1}), client.read(z), fenced(client.write(y, {1}))});
  }};
  litmus.forbidden = "a WRITE in memory before what precedes a READ that it is fenced from";
  verify(litmus);
}

TEST(Litmus, Rule05_message_follows_relaxed_writes) {
  Litmus litmus = on_regions(RegionOrdering::unordered);
  litmus.options.late_visibility = true;
  litmus.server = [](Party& server) {
    server.post_receive(z);
    server.await_message();
    load_y_then_x(server);
  };
  litmus.clients = {[](Party& client) {
    client.post({client.write(x, {1}), client.write(y, {1}), client.send({1})});
  }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {{0x11, "both WRITEs"}};
  litmus.forbidden = "a message before an earlier WRITE";
  verify(litmus);
}

TEST(Litmus, Rule05_immediate_follows_relaxed_writes) {
  Litmus litmus = on_regions(RegionOrdering::unordered);
  litmus.server = [](Party& server) {
    server.post_receive(z);
    server.await_message();
    load_y_then_x(server);
  };
  litmus.clients = {[](Party& client) {
    client.post({client.write(x, {1}), with_immediate(client.write(y, {1}), 7)});
  }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {{0x11, "both WRITEs"}};
  litmus.forbidden = "a number before an earlier WRITE";
  verify(litmus);
}

TEST(Litmus, Rule05_atomic_follows_relaxed_writes) {
  Litmus litmus = two_writes(RegionOrdering::unordered);
  litmus.clients = {[](Party& client) {
    client.post({client.write(x, {1}), client.fetch_and_add(y, 1)});
  }};
  litmus.forbidden = "an atomic in memory before an earlier WRITE";
  verify(litmus);
}

TEST(Litmus, Rule05_relaxed_write_then_read) { verify(write_then_read(RegionOrdering::relaxed)); }

TEST(Litmus, Rule05_unordered_read_may_pass_write) {
  Litmus litmus = write_then_read(RegionOrdering::unordered);
  litmus.allowed.push_back({0x0, "the READ passes the WRITE"});
  litmus.forbidden = {};
  verify(litmus);
}

// The READ may pass the WRITE, but its completion does not.
TEST(Litmus, Rule05_completion_of_an_unordered_read_shows_earlier_writes) {
  for (const bool late : {false, true}) {
    Litmus litmus = on_regions(RegionOrdering::unordered);
    litmus.options.late_visibility = late;
    litmus.server = [](Party& server) {
      server.host().yield();
      const std::uint64_t flag = server.trial().told(0);
      server.trial().seen[1] = server.load(x);
      server.trial().seen[2] = flag;
    };
    litmus.clients = {[](Party& client) {
      client.post({client.write(x, {1}), client.read(y)});
      client.finish();
      client.trial().tell(0, 1);
    }};
    litmus.outcome = [](Trial& trial) { return digits(trial.seen[2], trial.seen[1]); };
    litmus.allowed = {{0x00, "before the WRITE"},
                      {0x01, "in memory, not known yet"},
                      {0x11, "in memory and known"}};
    litmus.forbidden = "a READ completed, and an earlier WRITE not in memory";
    verify(litmus);
  }
}

}  // namespace falafel::litmus
