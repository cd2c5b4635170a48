// Rules 1 to 4: the units that a transfer moves atomically, and the order in which its parts land.
#include <gtest/gtest.h>

#include <iterator>

#include "tests/litmus/litmus.h"
#include "tests/litmus/words.h"

namespace falafel::litmus {
namespace {

constexpr std::uint64_t all_ones = ~std::uint64_t{0};

// A word that was zero and is written as all ones: 0 old, 1 new, 2 a mixture.
std::uint64_t classify(std::uint64_t word) { return word == 0 ? 0 : word == all_ones ? 1 : 2; }

void read_into_seen(Party& client, std::uint64_t word, std::uint64_t count) {
  const auto sample = client.read(word, count);
  client.post({sample});
  client.finish();
  for (std::uint64_t index = 0; index < count; ++index) {
    client.trial().seen.at(index) = client.result(sample, index);
  }
}

}  // namespace

TEST(Litmus, Rule01_aligned_word_is_never_torn) {
  Litmus litmus;
  litmus.stage.client_count = 2;
  litmus.server = [](Party& server) { server.trial().seen[1] = classify(server.load(x)); };
  litmus.clients = {
      [](Party& client) { client.post({client.write(x, {all_ones})}); },
      [](Party& client) {
        read_into_seen(client, x, 1);
        client.trial().seen[0] = classify(client.trial().seen[0]);
      },
  };
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {{0x00, "READ and processor before the WRITE"},
                    {0x01, "READ before, processor after"},
                    {0x10, "READ after, processor before"},
                    {0x11, "both after"}};
  litmus.forbidden = "a part of a word";
  verify(litmus);
}

// Segments are this side's concern: the word is gathered before it lands.
TEST(Litmus, Rule01_word_of_two_segments_is_never_torn) {
  Litmus litmus;
  litmus.stage.client_count = 2;
  litmus.stage.queue_pair.max_send_segments = 2;
  litmus.server = [](Party& server) { server.trial().seen[1] = classify(server.load(x)); };
  litmus.clients = {
      [](Party& client) {
        const auto write = client.write(x, {all_ones});
        client.post({with_segments(write, segments_of<2>(write))});
      },
      [](Party& client) {
        const auto sample = client.read(x);
        client.post({with_segments(sample, segments_of<2>(sample))});
        client.finish();
        client.trial().seen[0] = classify(client.result(sample));
      },
  };
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {{0x00, "READ and processor before the WRITE"},
                    {0x01, "READ before, processor after"},
                    {0x10, "READ after, processor before"},
                    {0x11, "both after"}};
  litmus.forbidden = "a part of a word";
  verify(litmus);
}

namespace {

Litmus write_meets_read(std::uint64_t words) {
  Litmus litmus;
  litmus.stage.client_count = 2;
  litmus.stage.memory_words = 4 * words;
  litmus.clients = {
      [words](Party& client) { client.post({client.fill(x, all_ones, words)}); },
      [words](Party& client) {
        const auto sample = client.read(x, words);
        client.post({sample});
        client.finish();
        for (std::uint64_t word = 0; word < words; ++word) {
          client.trial().seen.at(word * 2 / words) |= 1U << classify(client.result(sample, word));
        }
      },
  };
  // The contents of each half: 1 only old words, 2 only new ones, 3 both.
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  return litmus;
}

}  // namespace

TEST(Litmus, Rule01_longer_transfers_tear_between_words) {
  Litmus litmus = write_meets_read(2);
  litmus.allowed = {{0x11, "READ before WRITE"},
                    {0x12, "torn, second word first"},
                    {0x21, "torn, first word first"},
                    {0x22, "WRITE before READ"}};
  verify(litmus);
}

// Two bytes of a word suffice to see it torn.
TEST(Litmus, Rule01_byte_granularity_tears_words) {
  Litmus litmus;
  litmus.options.granularity = sim::Granularity::byte;
  litmus.stage.client_count = 2;
  litmus.clients = {
      [](Party& client) {
        auto write = client.write(x, {0xffff});
        write.length_bytes = 2;
        client.post({write});
      },
      [](Party& client) {
        auto sample = client.read(x);
        sample.length_bytes = 2;
        client.post({sample});
        client.finish();
        client.trial().seen[0] = client.result(sample);
      },
  };
  litmus.outcome = [](Trial& trial) {
    const std::uint64_t found = trial.seen[0];
    return found == 0 ? 0U : found == 0xffff ? 1U : 2U;
  };
  litmus.allowed = {{0, "READ before WRITE"}, {1, "WRITE before READ"}, {2, "torn"}};
  verify(litmus);
}

TEST(Litmus, Rule01_whole_lines_are_an_option) {
  Litmus litmus = write_meets_read(2);
  litmus.options.granularity = sim::Granularity::line;
  litmus.allowed = {{0x11, "READ before WRITE"}, {0x22, "WRITE before READ"}};
  litmus.forbidden = "a torn line";
  verify(litmus);
}

// Two words at the end of a line and the beginning of the next one.
TEST(Litmus, Rule01_whole_lines_tear_between_lines) {
  constexpr std::uint64_t last_word = 64 / fabric::word_bytes - 1;
  Litmus litmus;
  litmus.options.granularity = sim::Granularity::line;
  litmus.server = [](Party& server) {
    server.trial().seen[1] = server.load(last_word + 1);
    server.trial().seen[0] = server.load(last_word);
  };
  litmus.clients = {[](Party& client) { client.post({client.write(last_word, {1, 1})}); }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {{0x00, "before the WRITE"},
                    {0x10, "only the first line"},
                    {0x01, "only the second line"},
                    {0x11, "both lines"}};
  verify(litmus);
}

namespace {

// The processor stores to three words, the last one first; a READ samples all three.
Litmus descending_stores_meet_read() {
  Litmus litmus;
  litmus.server = [](Party& server) {
    for (const std::uint64_t word : {2U, 1U, 0U}) server.store(word, 1);
  };
  litmus.clients = {[](Party& client) { read_into_seen(client, 0, 3); }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 3); };
  litmus.allowed = {{0x000, "before the stores"},
                    {0x001, "after the first store"},
                    {0x011, "after the second store"},
                    {0x111, "after the stores"}};
  return litmus;
}

}  // namespace

TEST(Litmus, Rule02_read_samples_in_any_order) {
  Litmus litmus = descending_stores_meet_read();
  litmus.allowed.insert(litmus.allowed.end(), {{0x100, "the first word was sampled last"},
                                               {0x010, "the middle word was sampled last"},
                                               {0x110, "the last word was sampled first"},
                                               {0x101, "equal versions around torn data"}});
  verify(litmus);
}

TEST(Litmus, Rule02_address_order_is_an_option) {
  Litmus litmus = descending_stores_meet_read();
  litmus.options.address_order = true;
  litmus.forbidden = "a new word followed by an old one";
  verify(litmus);
}

namespace {

// A WRITE of three words; the processor loads them, the last one first.
Litmus write_meets_descending_loads() {
  Litmus litmus;
  litmus.server = [](Party& server) {
    for (const std::uint64_t word : {2U, 1U, 0U}) server.trial().seen.at(word) = server.load(word);
  };
  litmus.clients = {[](Party& client) { client.post({client.write(0, {1, 1, 1})}); }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 3); };
  litmus.allowed = {{0x000, "before the WRITE"},
                    {0x100, "only the first word in time"},
                    {0x110, "all but the last word in time"},
                    {0x111, "after the WRITE"}};
  return litmus;
}

}  // namespace

constexpr AllowedOutcome in_any_order[] = {{0x001, "only the last word in time"},
                                           {0x010, "only the middle word in time"},
                                           {0x011, "all but the first word in time"},
                                           {0x101, "all but the middle word in time"}};

TEST(Litmus, Rule03_write_lands_in_any_order) {
  Litmus litmus = write_meets_descending_loads();
  litmus.allowed.insert(litmus.allowed.end(), std::begin(in_any_order), std::end(in_any_order));
  verify(litmus);
}

TEST(Litmus, Rule03_segments_land_in_any_order) {
  Litmus litmus = write_meets_descending_loads();
  litmus.stage.queue_pair.max_send_segments = 3;
  litmus.clients = {[](Party& client) {
    const auto write = client.write(0, {1, 1, 1});
    client.post({with_segments(write, segments_of<3>(write))});
  }};
  litmus.allowed.insert(litmus.allowed.end(), std::begin(in_any_order), std::end(in_any_order));
  verify(litmus);
}

TEST(Litmus, Rule03_address_order_is_an_option) {
  Litmus litmus = write_meets_descending_loads();
  litmus.options.address_order = true;
  litmus.forbidden = "a word in memory before one at a lower address";
  verify(litmus);
}

namespace {

// A WRITE of two words; the processor waits for the second one, then loads the first.
Litmus write_ends_a_wait() {
  Litmus litmus;
  litmus.server = [](Party& server) {
    server.trial().seen[1] =
        server.memory().wait_until_changed((x + 1) * fabric::word_bytes, 0, fabric::never_ns);
    server.trial().seen[0] = server.memory().load(x * fabric::word_bytes);
  };
  litmus.clients = {[](Party& client) { client.post({client.write(x, {1, 1})}); }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  return litmus;
}

}  // namespace

TEST(Litmus, Rule03_a_changed_word_says_nothing_about_others) {
  Litmus litmus = write_ends_a_wait();
  litmus.allowed = {{0x01, "the first word is missing"}, {0x11, "both words"}};
  litmus.forbidden = "a wait that ends with an old word";
  verify(litmus);
}

TEST(Litmus, Rule03_the_last_word_changes_last_in_address_order) {
  Litmus litmus = write_ends_a_wait();
  litmus.options.address_order = true;
  litmus.allowed = {{0x11, "both words"}};
  litmus.forbidden = "the last word without the first";
  verify(litmus);
}

TEST(Litmus, Rule04_packets_are_moved_on_their_own) {
  Litmus litmus = write_meets_read(2 * packet_words);
  litmus.options.mtu_bytes = small_mtu_bytes;
  litmus.options.granularity = sim::Granularity::packet;
  litmus.allowed = {{0x11, "READ before WRITE"},
                    {0x12, "the READ's packets came before and after"},
                    {0x21, "the READ came between the packets of the WRITE"},
                    {0x22, "WRITE before READ"}};
  litmus.forbidden = "a torn packet";
  verify(litmus);
}

TEST(Litmus, Rule04_packets_do_not_order_words) {
  Litmus litmus;
  litmus.options.mtu_bytes = small_mtu_bytes;
  litmus.stage.memory_words = 4 * packet_words;
  litmus.server = [](Party& server) {
    server.trial().seen[1] = server.load(packet_words);
    server.trial().seen[0] = server.load(0);
  };
  litmus.clients = {[](Party& client) { client.post({client.fill(0, 1, 2 * packet_words)}); }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {{0x00, "neither packet in time"},
                    {0x10, "first packet in time"},
                    {0x01, "the second packet's word was in place before the first packet's"},
                    {0x11, "both in time"}};
  verify(litmus);
}

}  // namespace falafel::litmus
