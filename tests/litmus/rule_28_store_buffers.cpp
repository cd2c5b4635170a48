// Rule 28: the stores of a processor reach memory late, and in order (option store_buffers).
#include <gtest/gtest.h>

#include "tests/litmus/litmus.h"
#include "tests/litmus/words.h"

namespace falafel::litmus {
namespace {

Litmus store_buffers(Program server, Program client) {
  Litmus litmus;
  litmus.options.store_buffers = true;
  litmus.server = std::move(server);
  litmus.clients = {std::move(client)};
  return litmus;
}

// READs one word of the server after the other.
void read_two(Party& client, std::uint64_t first, std::uint64_t second) {
  const auto older = client.read(first);
  client.post({older});
  client.finish();
  const auto newer = client.read(second);
  client.post({newer});
  client.finish();
  client.trial().seen[1] = client.result(older);
  client.trial().seen[2] = client.result(newer);
}

// The client writes y and then reads x; the order at the server's memory is that of the requests.
void write_y_read_x(Party& client) {
  const auto read = client.read(x);
  client.post({client.write(y, {1}), read});
  client.finish();
  client.trial().seen[1] = client.result(read);
}

}  // namespace

TEST(Litmus, Rule28_a_load_may_pass_an_earlier_store) {
  Litmus litmus = store_buffers(
      [](Party& server) {
        server.store(x, 1);
        server.trial().seen[0] = server.load(y);
      },
      write_y_read_x);
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {{0x00, "the store is still in the buffer when both have looked"},
                    {0x01, "the store, then the WRITE"},
                    {0x10, "the WRITE and the READ, then the store"},
                    {0x11, "both see both"}};
  verify(litmus);
}

// The fence of the contract.
TEST(Litmus, Rule28_a_compare_and_swap_between_them_is_a_fence) {
  Litmus litmus = store_buffers(
      [](Party& server) {
        server.store(x, 1);
        server.processor_compare_and_swap(z, 0, 0);
        server.trial().seen[0] = server.load(y);
      },
      write_y_read_x);
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {{0x01, "the store, then the WRITE"},
                    {0x10, "the WRITE and the READ, then the store"},
                    {0x11, "both see both"}};
  litmus.forbidden = "both miss each other";
  verify(litmus);
}

TEST(Litmus, Rule28_stores_keep_their_order) {
  Litmus litmus = store_buffers(
      [](Party& server) {
        server.store(x, 1);
        server.store(y, 1);
      },
      [](Party& client) { read_two(client, y, x); });
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2, 1); };
  litmus.allowed = {{0x00, "neither"}, {0x01, "the first"}, {0x11, "both"}};
  litmus.forbidden = "the later store without the earlier one";
  verify(litmus);
}

TEST(Litmus, Rule28_a_processor_sees_its_own_stores) {
  Litmus litmus = store_buffers(
      [](Party& server) {
        server.store(x, 1);
        server.store(x, 2);
        server.trial().seen[0] = server.load(x);
      },
      [](Party& client) {
        const auto read = client.read(x);
        client.post({read});
        client.finish();
        client.trial().seen[1] = client.result(read);
      });
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[0], trial.seen[1]); };
  litmus.allowed = {{0x20, "the READ came before both reached memory"},
                    {0x21, "the READ came between"},
                    {0x22, "the READ came last"}};
  litmus.forbidden = "an own store that is not seen";
  verify(litmus);
}

// An overwritten store is still a store: it undoes a WRITE that the processor has not seen.
TEST(Litmus, Rule28_a_buffered_store_hides_a_write) {
  Litmus litmus = store_buffers(
      [](Party& server) {
        server.store(x, 1);
        server.trial().seen[0] = server.load(x);
      },
      [](Party& client) {
        client.post({client.write(x, {2})});
        client.finish();
      });
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[0], trial.final_word(x)); };
  litmus.allowed = {{0x11, "the WRITE, then the store"},
                    {0x12, "the store, seen, then the WRITE"},
                    {0x22, "the store, the WRITE, seen"}};
  litmus.forbidden = "the WRITE is seen, and the store comes last";
  verify(litmus);
}

// The doorbell is a store: the device does not read a buffer before the stores into it.
TEST(Litmus, Rule28_a_posted_write_takes_what_was_stored_before) {
  Litmus litmus = store_buffers({}, [](Party& client) {
    const auto write = client.write(x, {7});
    client.store(write.local.offset / fabric::word_bytes, 1);
    client.post({write});
    client.finish();
  });
  litmus.outcome = [](Trial& trial) { return digits(trial.final_word(x)); };
  litmus.allowed = {{0x1, "the stored word"}};
  litmus.forbidden = "the content before the store";
  verify(litmus);
}

// Nor does it place what arrives below a store from before.
TEST(Litmus, Rule28_a_posted_read_lands_above_what_was_stored_before) {
  Litmus litmus = store_buffers({}, [](Party& client) {
    const auto read = client.read(x);
    client.store(read.local.offset / fabric::word_bytes, 7);
    client.post({read});
    client.finish();
    client.trial().seen[0] = client.load(read.local.offset / fabric::word_bytes);
  });
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[0]); };
  litmus.allowed = {{0x0, "what the READ brought"}};
  litmus.forbidden = "the stored word";
  verify(litmus);
}

TEST(Litmus, Rule28_an_inlined_write_takes_what_was_stored_before) {
  Litmus litmus = store_buffers({}, [](Party& client) {
    const auto write = client.write(x, {7});
    client.store(write.local.offset / fabric::word_bytes, 1);
    client.post({inlined(write)});
    client.store(write.local.offset / fabric::word_bytes, 2);
    client.finish();
  });
  litmus.stage.queue_pair.max_inline_bytes = fabric::word_bytes;
  litmus.outcome = [](Trial& trial) { return digits(trial.final_word(x)); };
  litmus.allowed = {{0x1, "what was stored before posting"}};
  litmus.forbidden = "the content before, or what was stored later";
  verify(litmus);
}

// Posting tells the device, but is no fence for the processor's own loads.
TEST(Litmus, Rule28_a_load_may_pass_a_store_and_the_posting_behind_it) {
  Litmus litmus = store_buffers(
      [](Party& server) {
        server.store(x, 1);
        fabric::WorkRequest nothing;
        nothing.opcode = fabric::Opcode::write;
        must(server.queue_pair().post_send({&nothing, 1}));
        server.trial().seen[0] = server.load(y);
      },
      write_y_read_x);
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {{0x00, "both miss each other"},
                    {0x01, "the store, then the WRITE"},
                    {0x10, "the WRITE and the READ, then the store"},
                    {0x11, "both see both"}};
  verify(litmus);
}

// A completion of the request shows that the stores before it are in memory.
TEST(Litmus, Rule28_the_completion_of_a_request_follows_the_stores_before_it) {
  Litmus litmus = store_buffers(
      [](Party& server) {
        server.store(x, 1);
        fabric::WorkRequest nothing;
        nothing.opcode = fabric::Opcode::write;
        must(server.try_post({&nothing, 1}));
        server.finish();
        server.trial().seen[0] = server.load(y);
      },
      write_y_read_x);
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {{0x01, "the store, then the WRITE"},
                    {0x10, "the WRITE and the READ, then the store"},
                    {0x11, "both see both"}};
  litmus.forbidden = "both miss each other";
  verify(litmus);
}

}  // namespace falafel::litmus
