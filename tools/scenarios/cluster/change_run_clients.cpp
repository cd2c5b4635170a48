// The clients of a changing cluster.
#include <algorithm>
#include <utility>
#include <variant>

#include "engine/layout/pinned.h"
#include "fabric/text.h"
#include "fabric/time_units.h"
#include "tools/scenarios/cluster/change_run.h"
#include "tools/scenarios/cluster/run.h"

namespace falafel::cluster_scenario {
namespace {

using Attempts = checkers::specifications::AttemptedMap;
using engine::Answer;
using engine::Placement;
using engine::PlacementList;
using fabric::bytes_of;
using fabric::microsecond_ns;

constexpr int most_connections_of_an_attempt = 3;
constexpr int most_looks = 12;  // at the list, before a client gives an operation up

std::optional<Attempts::Result> recorded(Answer answer) {
  switch (answer) {
    case Answer::stored: return Attempts::Result(Attempts::Map::Result());
    case Answer::deleted: return Attempts::Result(Attempts::Map::removed());
    case Answer::not_found: return Attempts::Result(Attempts::Map::absent());
    case Answer::unknown_outcome: return std::nullopt;
    default: return Attempts::Result();
  }
}

}  // namespace

void ChangeRun::run_client(fabric::Host& host, std::uint32_t number) {
  Party party;
  for (const AttemptedMap::Operation& operation : plan_.operations(number)) {
    wait_for_change(host);
    attempt(host, party, number, operation);
  }
  wait_for_end(host);
  for (std::uint64_t key = 0; key < most_keys; ++key) {
    attempt(host, party, number, AttemptedMap::Get{key_of(key)});
  }
}

// Both operators may have crashed.
void ChangeRun::wait_for_end(fabric::Host& host) const {
  constexpr int most_looks_for_end = 200;
  for (int look = 0; look < most_looks_for_end && !is_changed(); ++look) {
    host.sleep_until(host.now_ns() + times_.settle_ns / 8);
  }
}

// Half of the operations run soon after an operator has made a step, when mistakes matter.
void ChangeRun::wait_for_change(fabric::Host& host) const {
  constexpr int most_looks_for_step = 400;
  const std::uint64_t seen = steps_;
  const bool waits = host.random(2) == 0;
  for (int look = 0; waits && look < most_looks_for_step && steps_ == seen && !is_changed();
       ++look) {
    host.sleep_until(host.now_ns() + 50 * microsecond_ns);
  }
  sleep_up_to(host, times_.lease_ns);
}

void ChangeRun::ask_for_list(fabric::Host& host, Known& known) const {
  const std::uint64_t asked_ns = host.now_ns();
  sleep_up_to(host, 20 * microsecond_ns);
  const PlacementList list = entry_.list;
  sleep_up_to(host, 20 * microsecond_ns);
  known = {.placement = std::make_shared<const Placement>(list),
           .usable_until_ns = asked_ns + times_.lease_ns};
}

std::optional<std::size_t> ChangeRun::place_of(const Known& known, const std::string& key) const {
  const auto server = known.placement->server_of(bytes_of(key));
  if (!server) meets_moving_.reached();
  if (!server && heeds_announcement_) return std::nullopt;
  return number_of(known.placement->current_server_of(bytes_of(key)));
}

std::optional<std::size_t> ChangeRun::server_of(fabric::Host& host, Known& known,
                                                const std::string& key) {
  for (int look = 0; look < most_looks; ++look) {
    const bool is_usable =
        known.placement != nullptr && (!heeds_lease_ || host.now_ns() < known.usable_until_ns);
    if (is_usable) {
      if (const auto server = place_of(known, key)) return server;
    }
    ask_for_list(host, known);
  }
  return std::nullopt;
}

engine::Client* ChangeRun::client_for(fabric::Host& host, Party& party, std::uint32_t number,
                                      const std::string& key) {
  for (int attempt = 0; attempt < most_connections_of_an_attempt; ++attempt) {
    const auto server = server_of(host, party.known, key);
    if (!server) return nullptr;
    auto& client = party.connections[*server];
    if (client != nullptr && client->is_connected()) {
      const bool is_outdated = party.known.placement->list() != entry_.list;
      if (is_outdated && host.random(100) < stall_percent_) stall_soon(host, number, *server);
      return client.get();
    }
    client = connect(host, *server);
  }
  return nullptr;
}

void ChangeRun::attempt(fabric::Host& host, Party& party, std::uint32_t number,
                        const AttemptedMap::Operation& operation) {
  const std::string key = std::visit([](const auto& known) { return known.key; }, operation);
  // From the decision to the operation, the fiber does not wait.
  engine::Client* const client = client_for(host, party, number, key);
  if (client == nullptr) return;
  history_.call(number, operation, [&] { return execute(host, *client, operation); });
}

std::optional<Attempts::Result> ChangeRun::execute(fabric::Host& host, engine::Client& client,
                                                   const AttemptedMap::Operation& operation) {
  if (const auto* const get = std::get_if<AttemptedMap::Get>(&operation)) {
    const engine::GetResult result = client.get(bytes_of(get->key));
    if (result.answer != Answer::found) return recorded(result.answer);
    finds_moved_.reached_if(moved_ > 0);
    return AttemptedMap::Result(AttemptedMap::Map::found(fabric::text_of(result.value)));
  }
  if (const auto* const set = std::get_if<AttemptedMap::Set>(&operation)) {
    return this->set(host, client, *set);
  }
  return recorded(client.remove(bytes_of(std::get<AttemptedMap::Remove>(operation).key)).answer);
}

std::optional<Attempts::Result> ChangeRun::set(fabric::Host& host, engine::Client& client,
                                               const AttemptedMap::Set& set) {
  if (!lifetimes_) return recorded(client.set(bytes_of(set.key), bytes_of(set.value)).answer);
  const std::uint64_t time_to_live_ns = LifetimeWatch::draw_time_to_live_ns(host);
  // For the history, a client deletes the value when it expires, and its answer is lost.
  if (time_to_live_ns > 0 && time_to_live_ns != engine::pinned_time_to_live_ns) {
    history_.call(plan_.clients() + losses_++, AttemptedMap::Remove{set.key},
                  [] { return std::optional<AttemptedMap::Result>(); });
  }
  lifetimes_->on_called(set.key, set.value);
  const Answer answer = client.set(bytes_of(set.key), bytes_of(set.value), time_to_live_ns).answer;
  if (answer == Answer::stored) {
    lifetimes_->on_stored(set.key, set.value, time_to_live_ns, host.now_ns());
  }
  return recorded(answer);
}

void ChangeRun::judge_copy(const Keys::Copy& copy, std::uint64_t now_ns) {
  if (!lifetimes_) return;
  const bool is_pinned = copy.time_to_live_ns == engine::pinned_time_to_live_ns;
  copies_lifetime_->reached_if(copy.time_to_live_ns > 0 && !is_pinned);
  copies_pin_->reached_if(is_pinned);
  const std::string key = fabric::text_of(copy.key);
  const std::string value = fabric::text_of(copy.value);
  const auto objection = lifetimes_->objection_to_copy(key, value, copy.time_to_live_ns, now_ns);
  if (objection) world_.fail("cluster.lives-longer", *objection);
  lifetimes_->on_called(key, value);
}

void ChangeRun::note_copy(const Keys::Copy& copy, std::uint64_t now_ns) {
  if (!lifetimes_) return;
  lifetimes_->on_stored(fabric::text_of(copy.key), fabric::text_of(copy.value),
                        copy.time_to_live_ns, now_ns);
}

}  // namespace falafel::cluster_scenario
