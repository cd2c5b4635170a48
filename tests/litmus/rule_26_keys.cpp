// Rule 26: the keys of a region.
#include <gtest/gtest.h>

#include "tests/litmus/litmus.h"

namespace falafel::litmus {
namespace {

using fabric::CompletionStatus;

static_assert(static_cast<int>(CompletionStatus::success) == 0 &&
                  static_cast<int>(CompletionStatus::remote_access_error) == 3,
              "as the outcomes below have it");

// Returns how many postings are refused because a local buffer has a remote key.
std::uint64_t post_with_remote_keys(Party& client) {
  auto write = client.write(x, {1});
  write.local.key = client.region().remote_key();
  std::uint64_t refused = client.try_post({write}).has_value() ? 0 : 1;
  const fabric::ReceiveRequest receive{
      .id = 0, .local = write.local, .length_bytes = write.length_bytes};
  if (!client.queue_pair().post_receive({&receive, 1})) ++refused;
  return refused;
}

// The server restarts, registers its memory again, and the client uses the old key.
Litmus stale_key() {
  Litmus litmus;
  litmus.clients = {[](Party& client) {
    const auto write = client.write(x, {1});
    sim::Simulation& simulation = client.trial().simulation();
    simulation.crash(server_name);
    simulation.restart(server_name);
    const std::size_t connection = client.connect();
    client.post({write}, connection);
    client.finish();
    client.trial().seen[0] = static_cast<std::uint64_t>(client.status(write));
  }};
  litmus.outcome = [](Trial& trial) { return digits(trial.seen[0], trial.final_word(x)); };
  litmus.allowed = {{0x30, "refused"}};
  return litmus;
}

}  // namespace

TEST(Litmus, Rule26_stale_keys_are_refused) {
  Litmus litmus = stale_key();
  litmus.forbidden = "a stale key that is accepted";
  verify(litmus);
}

TEST(Litmus, Rule26_stale_keys_are_accepted_as_an_option) {
  Litmus litmus = stale_key();
  litmus.options.keys_reused_after_restart = true;
  litmus.allowed.push_back({0x01, "accepted, because the new region has the key"});
  verify(litmus);
}

TEST(Litmus, Rule26_neither_key_is_the_other) {
  Litmus litmus;
  litmus.options.distinct_keys = true;
  litmus.clients = {[](Party& client) {
    client.trial().seen[0] = post_with_remote_keys(client);
    const auto right = client.write(x, {1});
    auto wrong = client.host().random(2) == 0 ? client.write(y, {1}) : client.fetch_and_add(y, 1);
    wrong.remote.key = client.trial().server().region().local_key();
    client.post({right, wrong});
    client.finish();
    client.trial().seen[1] = static_cast<std::uint64_t>(client.status(right));
    client.trial().seen[2] = static_cast<std::uint64_t>(client.status(wrong));
  }};
  litmus.outcome = [](Trial& trial) {
    return seen_digits(trial, 3) << 8U | digits(trial.final_word(x), trial.final_word(y));
  };
  litmus.allowed = {{0x203'10, "both postings refused; the WRITE done, the wrong key refused"}};
  litmus.forbidden = "a key that is accepted in place of the other";
  verify(litmus);
}

}  // namespace falafel::litmus
