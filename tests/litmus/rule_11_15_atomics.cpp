// Rules 11 to 15: the accesses with respect to which atomics are atomic, the effects of a failing
// atomic, and the number of outstanding ones.
#include <gtest/gtest.h>

#include "tests/litmus/litmus.h"

namespace falafel::litmus {
namespace {

Program increment(std::size_t register_index) {
  return [register_index](Party& client) {
    const auto add = client.fetch_and_add(x, 1);
    client.post({add});
    client.finish();
    client.trial().seen.at(register_index) = client.result(add);
  };
}

Litmus two_increments() {
  Litmus litmus;
  litmus.stage.client_count = 2;
  litmus.clients = {increment(0), increment(1)};
  litmus.outcome = [](Trial& trial) {
    return digits(trial.seen[0], trial.seen[1], trial.final_word(x));
  };
  litmus.allowed = {{0x012, "one after the other"}, {0x102, "the other way round"}};
  return litmus;
}

// The client's CAS from 0 to 1, and the server program's access to the same word.
Litmus swap_meets(Program server, fabric::AtomicCapability capability) {
  Litmus litmus;
  litmus.options.atomic_capability = capability;
  litmus.server = std::move(server);
  litmus.clients = {[](Party& client) {
    const auto swap = client.compare_and_swap(x, 0, 1);
    client.post({swap});
    client.finish();
    client.trial().seen[0] = client.result(swap);
  }};
  return litmus;
}

Litmus swap_meets_store(fabric::AtomicCapability capability) {
  Litmus litmus = swap_meets([](Party& server) { server.store(x, 5); }, capability);
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[0], trial.final_word(x)); };
  litmus.allowed = {{0x05, "CAS before store"}, {0x55, "store before CAS, which fails"}};
  return litmus;
}

Litmus swap_meets_processor_swap(fabric::AtomicCapability capability) {
  Litmus litmus = swap_meets(
      [](Party& server) { server.trial().seen[1] = server.processor_compare_and_swap(x, 0, 2); },
      capability);
  litmus.outcome = [](Trial& trial) {
    return digits(trial.seen[0], trial.seen[1], trial.final_word(x));
  };
  litmus.allowed = {{0x011, "the device's CAS succeeds, the processor's fails"},
                    {0x202, "the processor's succeeds, the device's fails"}};
  return litmus;
}

}  // namespace

TEST(Litmus, Rule11_atomic_against_the_same_device) {
  Litmus litmus = two_increments();
  litmus.forbidden = "an increment lost";
  verify(litmus);
}

TEST(Litmus, Rule11_one_of_two_swaps_succeeds) {
  Litmus litmus;
  litmus.stage.connections_per_client = 2;
  litmus.clients = {[](Party& client) {
    const auto first = client.compare_and_swap(x, 0, 1);
    const auto second = client.compare_and_swap(x, 0, 2);
    client.post({first}, 0);
    client.post({second}, 1);
    client.finish();
    client.trial().seen[0] = client.result(first);
    client.trial().seen[1] = client.result(second);
  }};
  litmus.outcome = [](Trial& trial) {
    return digits(trial.seen[0], trial.seen[1], trial.final_word(x));
  };
  litmus.allowed = {{0x011, "the first succeeds"}, {0x202, "the second succeeds"}};
  litmus.forbidden = "both or neither succeed";
  verify(litmus);
}

namespace {

// Swaps the low half of x from 0 to 1 and leaves the high half as it is.
fabric::WorkRequest swap_low_half(Party& client, std::uint64_t desired) {
  fabric::WorkRequest request = client.compare_and_swap(x, 0, desired);
  request.opcode = fabric::Opcode::masked_compare_and_swap;
  request.compare_mask = 0xffff'ffff;
  request.swap_mask = 0xffff'ffff;
  return request;
}

constexpr std::uint64_t in_high_half = std::uint64_t{1} << 32U;

std::uint64_t halves_of(std::uint64_t word) { return digits(word >> 32U, word & 0xffff'ffff); }

}  // namespace

TEST(Litmus, Rule11_masked_atomics_of_two_fields_both_succeed) {
  Litmus litmus;
  litmus.stage.client_count = 2;
  litmus.clients = {[](Party& client) { client.post({swap_low_half(client, 5)}); },
                    [](Party& client) {
                      fabric::WorkRequest add = client.fetch_and_add(x, 3 * in_high_half);
                      add.opcode = fabric::Opcode::masked_fetch_and_add;
                      add.field_boundaries = in_high_half >> 1U;
                      client.post({add});
                    }};
  litmus.outcome = [](Trial& trial) { return halves_of(trial.final_word(x)); };
  litmus.allowed = {{0x35, "both"}};
  litmus.forbidden = "one of them lost";
  verify(litmus);
}

// The whole word is written, although only a half of it changes.
TEST(Litmus, Rule11_masked_atomic_is_not_against_stores_to_its_other_bits) {
  Litmus litmus;
  litmus.server = [](Party& server) {
    const std::uint64_t seen = server.load(x);
    server.store(x, (seen & 0xffff'ffff) | 3 * in_high_half);
  };
  litmus.clients = {[](Party& client) { client.post({swap_low_half(client, 5)}); }};
  litmus.outcome = [](Trial& trial) { return halves_of(trial.final_word(x)); };
  litmus.allowed = {{0x35, "one after the other"},
                    {0x30, "the processor overwrites the swap"},
                    {0x05, "the store fell into the gap and is lost"}};
  verify(litmus);
}

TEST(Litmus, Rule11_not_against_another_device) {
  Litmus litmus = two_increments();
  litmus.stage.server_device_count = 2;
  litmus.allowed.push_back({0x001, "an increment is lost"});
  verify(litmus);
}

TEST(Litmus, Rule11_not_against_the_processors_stores) {
  Litmus litmus = swap_meets_store(fabric::AtomicCapability::device);
  litmus.allowed.push_back({0x01, "the store fell into the gap and is lost"});
  verify(litmus);
}

TEST(Litmus, Rule11_not_against_the_processors_swaps) {
  Litmus litmus = swap_meets_processor_swap(fabric::AtomicCapability::device);
  litmus.allowed.push_back({0x001, "both succeed"});
  verify(litmus);
}

TEST(Litmus, Rule11_not_against_writes) {
  Litmus litmus;
  litmus.stage.client_count = 2;
  litmus.clients = {increment(0), [](Party& client) { client.post({client.write(x, {5})}); }};
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[0], trial.final_word(x)); };
  litmus.allowed = {{0x05, "FETCH_ADD before WRITE"},
                    {0x56, "WRITE before FETCH_ADD"},
                    {0x01, "the WRITE fell into the gap and is lost"}};
  verify(litmus);
}

namespace {

// A CAS that cannot succeed races with a store of the processor.
Litmus failing_swap_meets_store(bool writes_back) {
  Litmus litmus;
  litmus.options.failing_cas_writes_back = writes_back;
  litmus.server = [](Party& server) { server.store(x, 5); };
  litmus.clients = {[](Party& client) {
    const auto swap = client.compare_and_swap(x, 7, 9);
    client.post({swap});
    client.finish();
    client.trial().seen[0] = client.result(swap);
  }};
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[0], trial.final_word(x)); };
  litmus.allowed = {{0x05, "CAS before store"}, {0x55, "store before CAS"}};
  return litmus;
}

}  // namespace

TEST(Litmus, Rule12_failing_cas_leaves_the_word_alone) {
  Litmus litmus = failing_swap_meets_store(false);
  litmus.forbidden = "a store that a failing CAS undoes";
  verify(litmus);
}

TEST(Litmus, Rule12_failing_cas_writes_back_as_an_option) {
  Litmus litmus = failing_swap_meets_store(true);
  litmus.allowed.push_back(
      {0x00, "the store fell into the gap, and the old word was written back"});
  verify(litmus);
}

TEST(Litmus, Rule13_global_atomics_against_stores) {
  Litmus litmus = swap_meets_store(fabric::AtomicCapability::global);
  litmus.forbidden = "a store lost in the gap";
  verify(litmus);
}

TEST(Litmus, Rule13_global_atomics_against_swaps) {
  Litmus litmus = swap_meets_processor_swap(fabric::AtomicCapability::global);
  litmus.forbidden = "both or neither succeed";
  verify(litmus);
}

TEST(Litmus, Rule14_misaligned_atomic_is_refused) {
  Litmus litmus;
  litmus.clients = {[](Party& client) {
    auto atomic = client.host().random(2) == 0 ? client.fetch_and_add(x, 1)
                                               : client.compare_and_swap(x, 0, 1);
    switch (client.host().random(3)) {
      case 0: atomic.remote.offset += 4; break;
      case 1: atomic.length_bytes = 4; break;
      default: atomic.length_bytes = 16; break;
    }
    const auto refused = client.try_post({atomic});
    client.trial().seen[0] =
        !refused && refused.error().code == fabric::ErrorCode::invalid_argument;
  }};
  litmus.outcome = [](Trial& trial) {
    return digits(trial.seen[0], trial.final_word(x), trial.final_word(x + 1));
  };
  litmus.allowed = {{0x100, "refused as an invalid argument, and without effect"}};
  verify(litmus);
}

namespace {

// READ x, READ y, then a WRITE of both: which READs the WRITE can overtake.
Litmus two_reads_then_write(std::uint32_t queue_pair_limit, std::uint32_t device_limit) {
  Litmus litmus;
  litmus.stage.queue_pair.max_outstanding_reads_and_atomics = queue_pair_limit;
  litmus.options.max_outstanding_reads_and_atomics = device_limit;
  litmus.clients = {[](Party& client) {
    const auto first = client.read(x);
    const auto second = client.read(y);
    client.post({first, second, client.write(x, {1, 1, 1})});
    client.finish();
    client.trial().seen[0] = client.result(first);
    client.trial().seen[1] = client.result(second);
  }};
  litmus.outcome = [](Trial& trial) { return seen_digits(trial, 2); };
  litmus.allowed = {{0x00, "both READs before the WRITE"},
                    {0x01, "the WRITE overtook the second READ"}};
  return litmus;
}

}  // namespace

TEST(Litmus, Rule15_two_outstanding) {
  Litmus litmus = two_reads_then_write(2, 16);
  litmus.allowed.insert(litmus.allowed.end(), {{0x10, "the WRITE overtook the first READ"},
                                               {0x11, "the WRITE overtook both"}});
  verify(litmus);
}

TEST(Litmus, Rule15_one_outstanding) {
  Litmus litmus = two_reads_then_write(1, 16);
  litmus.forbidden = "the first READ not finished when what is behind the second takes effect";
  verify(litmus);
}

TEST(Litmus, Rule15_the_device_limits_too) {
  Litmus litmus = two_reads_then_write(16, 1);
  litmus.forbidden = "the first READ not finished when what is behind the second takes effect";
  verify(litmus);
}

TEST(Litmus, Rule15_atomics_count) {
  Litmus litmus;
  litmus.stage.queue_pair.max_outstanding_reads_and_atomics = 1;
  litmus.clients = {[](Party& client) {
    const auto first = client.compare_and_swap(x, 0, 1);
    const auto second = client.compare_and_swap(x, 1, 2);
    client.post({first, second});
    client.finish();
    client.trial().seen[0] = client.result(first);
    client.trial().seen[1] = client.result(second);
  }};
  litmus.outcome = [](Trial& trial) {
    return digits(trial.seen[0], trial.seen[1], trial.final_word(x));
  };
  litmus.allowed = {{0x012, "the second waits at the requester until the first has finished"}};
  litmus.forbidden = "a second atomic under way";
  verify(litmus);
}

}  // namespace falafel::litmus
