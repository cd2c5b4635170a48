#include "tools/scenarios/cluster/change_run.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "fabric/text.h"
#include "fabric/time_units.h"
#include "tools/scenarios/cluster/run.h"

namespace falafel::cluster_scenario {
namespace {

using Attempts = checkers::specifications::AttemptedMap;
using engine::Answer;
using engine::Placement;
using engine::PlacementDirectory;
using engine::PlacementList;
using engine::ServerKeys;
using fabric::bytes_of;
using fabric::microsecond_ns;
using fabric::millisecond_ns;

constexpr std::uint64_t heartbeat_timeout_ns = 2 * millisecond_ns;
constexpr std::uint64_t server_timeout_ns = 2 * millisecond_ns;
constexpr std::uint64_t most_changes = 3;
constexpr int most_attempts_of_a_change = 6;
constexpr int most_connections_of_an_attempt = 3;
constexpr int most_looks = 12;  // at the list, before a client gives an operation up

std::string name_of(std::size_t server) { return "server " + std::to_string(server); }

std::size_t number_of(const std::string& server) {
  return static_cast<std::size_t>(server.back() - '0');
}

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

ChangeRun::ChangeRun(check::World& world, const check::Plan<AttemptedMap>& plan)
    : world_(world),
      plan_(plan),
      history_(world.history<AttemptedMap>()),
      heeds_lease_(world.safeguard("lease")),
      heeds_announcement_(world.safeguard("announcement")),
      waits_(world.safeguard("settling")),
      asks_for_runs_(world.safeguard("same-runs")),
      waits_for_end_(world.safeguard("end-of-operations")),
      crash_percent_(world.one_of<std::uint64_t>({0, 20})),
      stall_percent_(world.one_of<std::uint64_t>({0, 50})),
      finds_moved_(world.sometimes("a key is found after keys have moved")),
      meets_moving_(world.sometimes("a client meets a key that moves")),
      repeats_(world.sometimes("a change is repeated")),
      takes_over_(world.sometimes("an operator takes a change over")),
      loses_keys_(world.sometimes("a server loses keys during a change")),
      server_options_{.geometry = {.table_entries = 16,
                                   .region_bytes = 512,
                                   .region_count = 8,
                                   .mature_bytes = 2'048},
                      .heartbeat_timeout_ns = heartbeat_timeout_ns,
                      .hash_key = engine::HashKey{}},
      times_{.lease_ns =
                 world.one_of({100 * microsecond_ns, 300 * microsecond_ns, 1 * millisecond_ns})} {
  times_.settle_ns = waits_ ? 2 * (times_.lease_ns + server_timeout_ns + 3 * heartbeat_timeout_ns)
                            : times_.lease_ns / 100;
  entry_ = {.list = {.servers = draw_servers(), .times = times_}, .revision = 1};
  const std::uint64_t count = 1 + world_.choose(most_changes);
  for (std::uint64_t change = 0; change < count; ++change) changes_.push_back(draw_servers());
}

std::vector<std::string> ChangeRun::draw_servers() {
  const std::uint64_t subset = 1 + world_.choose((1U << server_count) - 1);
  std::vector<std::string> servers;
  for (std::size_t server = 0; server < server_count; ++server) {
    if ((subset >> server & 1U) != 0) servers.push_back(name_of(server));
  }
  return servers;
}

void ChangeRun::execute() {
  for (std::size_t server = 0; server < server_count; ++server) {
    world_.server(name_of(server), [this, server](fabric::Host& host) { serve(host, server); });
  }
  for (std::uint32_t number = 0; number < operator_count; ++number) {
    world_.client("operator " + std::to_string(number),
                  [this](fabric::Host& host) { run_operator(host); });
  }
  world_.clients(plan_.clients(),
                 [this](fabric::Host& host, std::uint32_t number) { run_client(host, number); });
  world_.run();
}

void ChangeRun::serve(fabric::Host& host, std::size_t server) {
  struct Presence {
    Place& place;
    const engine::PlacementDirectory::Entry& entry;
    ~Presence() {
      place.is_up = false;
      place.list_at_crash = entry.list;
    }
  };
  Place& place = places_[server];
  if (place.lives > 0) lose_keys(server, place.list_at_crash);
  const Presence presence{place, entry_};
  const auto started = engine::Server::start(host, server_options_);
  if (!started) return world_.fail("cluster.start", started.error().detail);
  ++place.lives;
  place.is_up = true;
  host.create_event()->wait(fabric::never_ns);
}

// For the history, clients delete them whose answers are lost.
void ChangeRun::lose_keys(std::size_t server, const PlacementList& list) {
  loses_keys_.reached_if(list.is_changing());
  const Placement placement(list);
  for (std::uint64_t key = 0; key < most_keys; ++key) {
    if (placement.current_server_of(bytes_of(key_of(key))) != name_of(server)) continue;
    history_.call(plan_.clients() + losses_++, AttemptedMap::Remove{key_of(key)},
                  [] { return std::optional<AttemptedMap::Result>(); });
  }
}

std::unique_ptr<engine::Client> ChangeRun::connect(fabric::Host& host, std::size_t server) const {
  constexpr int most_looks_for_server = 100;
  for (int look = 0; look < most_looks_for_server && !places_[server].is_up; ++look) {
    host.sleep_until(host.now_ns() + 20 * microsecond_ns);
  }
  auto client =
      engine::Client::connect(host, {.host = name_of(server), .service = server_options_.service},
                              {.connect_timeout_ns = 4 * millisecond_ns,
                               .server_timeout_ns = server_timeout_ns,
                               .acknowledge_timeout_ns = millisecond_ns / 2,
                               .retry_count = 1});
  return client ? std::move(*client) : nullptr;
}

// The operators

void ChangeRun::run_operator(fabric::Host& host) {
  while (!is_changed()) {
    const std::size_t current = next_change_;
    sleep_up_to(host, 4 * times_.lease_ns);
    bool is_done = false;
    for (int attempt = 0; !is_done && attempt < most_attempts_of_a_change; ++attempt) {
      if (next_change_ != current) break;
      repeats_.reached_if(attempt > 0 && entry_.list.is_changing());
      takes_over_.reached_if(attempt == 0 && entry_.list.is_changing());
      is_done = change(host, changes_[current], attempt > 0);
      if (!is_done) sleep_up_to(host, times_.settle_ns);
    }
    if (next_change_ != current) continue;
    Directory directory(host, entry_);
    if (!is_done) (void)give_up_change(directory);  // or the list has changed
    next_change_ = std::max(next_change_, current + 1);
  }
}

bool ChangeRun::change(fabric::Host& host, const std::vector<std::string>& next, bool is_repeated) {
  FoundLives found;
  Directory directory(host, entry_, [&] { note_late_crashes(found); });
  engine::ChangeTools tools{
      .directory = directory,
      .reach = [&](const std::string& server,
                   const engine::MayChange& may_change) -> engine::ReachedKeys {
        const std::size_t place = number_of(server);
        auto client = connect(host, place);
        if (client == nullptr) return tl::unexpected(std::string("away"));
        const auto on_copied = [this, &host, place] {
          if (host.random(100) < crash_percent_) crash_soon(host, place);
        };
        return std::make_unique<Keys>(server, std::move(client), places_[place],
                                      Keys::Options{.found = asks_for_runs_ ? &found : nullptr,
                                                    .waits_for_end = waits_for_end_,
                                                    .may_change = may_change,
                                                    .on_copied = on_copied});
      },
      .now_ns = [&] { return host.now_ns(); },
      .wait =
          [&](std::uint64_t duration_ns) {
            ++steps_;
            host.sleep_until(host.now_ns() + duration_ns);
            ++steps_;
          },
      .own_number = 1 + host.random(1'000'000'000),
      .may_delete_strays = is_repeated};
  const auto changed = change_placement(tools, next);
  if (changed) moved_ += changed->moved;
  return changed.has_value();
}

void ChangeRun::crash_soon(fabric::Host& host, std::size_t server) {
  const std::uint64_t longest_ns = std::uint64_t{10 * microsecond_ns} << host.random(6);
  host.spawn({.name = "misfortune", .daemon = true}, [this, &host, server, longest_ns] {
    sleep_up_to(host, longest_ns);
    world_.simulation().crash(name_of(server));
    world_.simulation().restart(name_of(server));
  });
}

void ChangeRun::stall_soon(fabric::Host& host, std::uint32_t client, std::size_t server) {
  host.spawn({.name = "stall", .daemon = true}, [this, &host, client, server] {
    sleep_up_to(host, 1 * microsecond_ns);  // about as long as an operation takes
    const std::uint64_t duration_ns = times_.settle_ns / 2 + host.random(times_.settle_ns);
    world_.simulation().pause(name_of(server), duration_ns);
    world_.simulation().pause("client " + std::to_string(client),
                              duration_ns + host.random(heartbeat_timeout_ns));
  });
}

// A crash after the answer costs the keys that the server is just given.
void ChangeRun::note_late_crashes(const FoundLives& found) {
  if (entry_.list.is_changing()) return;
  for (const auto& [name, life] : found) {
    const std::size_t server = number_of(name);
    if (!places_[server].is_up || places_[server].lives != life) lose_keys(server, entry_.list);
  }
}

// Clients

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
  history_.call(number, operation, [&] { return execute(*client, key, operation); });
}

std::optional<Attempts::Result> ChangeRun::execute(engine::Client& client, const std::string& key,
                                                   const AttemptedMap::Operation& operation) {
  if (std::holds_alternative<AttemptedMap::Get>(operation)) {
    const engine::GetResult result = client.get(bytes_of(key));
    if (result.answer != Answer::found) return recorded(result.answer);
    finds_moved_.reached_if(moved_ > 0);
    return AttemptedMap::Result(AttemptedMap::Map::found(
        {reinterpret_cast<const char*>(result.value.data()), result.value.size()}));
  }
  if (const auto* const set = std::get_if<AttemptedMap::Set>(&operation)) {
    return recorded(client.set(bytes_of(key), bytes_of(set->value)).answer);
  }
  return recorded(client.remove(bytes_of(key)).answer);
}

}  // namespace falafel::cluster_scenario
