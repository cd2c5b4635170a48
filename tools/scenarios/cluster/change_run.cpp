#include "tools/scenarios/cluster/change_run.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "fabric/at_end.h"
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

// A server that has ended in the same process gives its memory and its service back a little later.
fabric::Result<std::unique_ptr<engine::Server>> start_server(fabric::Host& host,
                                                             const engine::ServerOptions& options) {
  for (;;) {
    auto started = engine::Server::start(host, options);
    if (started || started.error().code != fabric::ErrorCode::address_in_use) return started;
    host.sleep_until(host.now_ns() + 5 * microsecond_ns);
  }
}

void forget_entries(engine::Server& server) {
  const engine::Geometry& geometry = server.geometry();
  for (std::uint64_t slot = 0; slot < geometry.table_entries; ++slot) {
    server.memory().store(geometry.entry_offset(slot), 0);
  }
}

}  // namespace

ChangeRun::ChangeRun(check::World& world, const check::Plan<AttemptedMap>& plan, WarmRuns warm_runs)
    : world_(world),
      plan_(plan),
      history_(world.history<AttemptedMap>()),
      heeds_lease_(world.safeguard("lease")),
      heeds_announcement_(world.safeguard("announcement")),
      waits_(world.safeguard("settling")),
      asks_for_copies_(world.safeguard("same-runs")),
      waits_for_end_(world.safeguard("end-of-operations")),
      crash_percent_(world.one_of<std::uint64_t>({0, 20})),
      stall_percent_(world.one_of<std::uint64_t>({0, 50})),
      finds_moved_(world.sometimes("a key is found after keys have moved")),
      meets_moving_(world.sometimes("a client meets a key that moves")),
      repeats_(world.sometimes("a change is repeated")),
      takes_over_(world.sometimes("an operator takes a change over")),
      loses_keys_(world.sometimes("a server loses keys during a change")),
      breaks_copies_off_(world.sometimes("a connection breaks while a key is copied")),
      gives_copies_up_(world.sometimes("a change is given up after keys were copied")),
      outlasts_settling_(world.sometimes("a stall lasts for longer than a change settles")),
      hears_late_(world.sometimes("the directory answers after more than a lease")),
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
  if (warm_runs == WarmRuns::only || (warm_runs == WarmRuns::some && world_.choose(2) == 0)) {
    warm_restarts_.emplace(world_);
  }
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
  for (;;) serve_in_process(host, server);
}

void ChangeRun::serve_in_process(fabric::Host& host, std::size_t server) {
  Place& place = places_[server];
  if (place.has_lost_keys) lose_keys(server, place.list_at_loss);
  const fabric::AtEnd end([this, server] { end_process(server); });
  const auto started = start_server(host, options_of(place));
  if (!started) return world_.fail("cluster.start", started.error().detail);
  if (warm_restarts_ && warm_restarts_->forgets(server)) forget_entries(**started);
  ++place.lives;
  place.is_up = true;
  wait_for_end_of_process(host);
}

engine::ServerOptions ChangeRun::options_of(const Place& place) const {
  engine::ServerOptions options = server_options_;
  if (warm_restarts_) options.kept_memory = "memory " + std::to_string(place.contents);
  return options;
}

void ChangeRun::wait_for_end_of_process(fabric::Host& host) {
  const bool ends = warm_restarts_ && host.random(100) < warm_restarts_->orderly_percent();
  if (!ends) host.create_event()->wait(fabric::never_ns);
  sleep_up_to(host, 4 * times_.settle_ns);
}

// Runs also at the end of a fiber that is unwound, so it must not wait.
void ChangeRun::end_process(std::size_t server) {
  Place& place = places_[server];
  place.is_up = false;
  place.has_lost_keys = false;
  if (warm_restarts_ && warm_restarts_->end_process(server) == Memory::stays) return;
  ++place.contents;
  place.has_lost_keys = place.lives > 0;
  place.list_at_loss = entry_.list;
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
      is_done = change(host, current, attempt > 0);
      if (!is_done) sleep_up_to(host, times_.settle_ns);
    }
    if (next_change_ != current) continue;
    if (!is_done) give_up(host, current);
    next_change_ = std::max(next_change_, current + 1);
  }
}

void ChangeRun::give_up(fabric::Host& host, std::size_t number) {
  Directory directory(host, entry_, {});
  const auto given_up = give_up_change(directory);  // or the list has changed
  gives_copies_up_.reached_if(given_up && changes_with_copies_.contains(number));
}

bool ChangeRun::change(fabric::Host& host, std::size_t number, bool is_repeated) {
  FoundContents found;
  std::optional<RestartWatch::Attempt> attempt;
  if (warm_restarts_) attempt.emplace(warm_restarts_->watch(), number);
  RestartWatch::Attempt* const watched = attempt ? &*attempt : nullptr;
  Directory directory = directory_of_change(host, found);
  engine::ChangeTools tools{
      .directory = directory,
      .reach = [&](const std::string& server,
                   const engine::MayChange& may_change) -> engine::ReachedKeys {
        return reach(host, number_of(server), number, may_change, found, watched);
      },
      .now_ns = [&] { return host.now_ns(); },
      .wait = [&](std::uint64_t duration_ns) { settle(host, duration_ns, watched); },
      .own_number = 1 + host.random(1'000'000'000),
      .may_delete_strays = is_repeated};
  const auto changed = change_placement(tools, changes_[number]);
  if (changed) moved_ += changed->moved;
  if (changed && attempt) attempt->on_done();
  return changed.has_value();
}

Directory ChangeRun::directory_of_change(fabric::Host& host, const FoundContents& found) {
  return {host,
          entry_,
          {.on_call = [this, &host] { call_misfortune_anywhere(host); },
           .on_replaced = [this, &found] { note_late_losses(found); },
           .on_read =
               [this](std::uint64_t duration_ns) {
                 hears_late_.reached_if(duration_ns > times_.lease_ns);
               }}};
}

void ChangeRun::settle(fabric::Host& host, std::uint64_t duration_ns,
                       RestartWatch::Attempt* attempt) {
  ++steps_;
  if (attempt != nullptr) attempt->settle(true);
  call_misfortune_anywhere(host);
  host.sleep_until(host.now_ns() + duration_ns);
  if (attempt != nullptr) attempt->settle(false);
  ++steps_;
}

engine::ReachedKeys ChangeRun::reach(fabric::Host& host, std::size_t server, std::size_t number,
                                     const engine::MayChange& may_change, FoundContents& found,
                                     RestartWatch::Attempt* attempt) {
  auto client = connect(host, server);
  if (client == nullptr) return tl::unexpected(std::string("away"));
  Keys::Options options{.found = asks_for_copies_ ? &found : nullptr,
                        .waits_for_end = waits_for_end_,
                        .may_change = may_change,
                        .on_call = [this, &host, server] { call_misfortune(host, server); },
                        .on_read =
                            [this, server, attempt] {
                              if (attempt != nullptr && entry_.list.is_changing()) {
                                attempt->read_at(server);
                              }
                            },
                        .on_copied =
                            [this, &host, server, number, attempt] {
                              changes_with_copies_.insert(number);
                              if (attempt != nullptr) attempt->copied_to(server);
                              if (host.random(100) < crash_percent_) crash_soon(host, server);
                            },
                        .on_broken = [this] { breaks_copies_off_.reached(); }};
  if (warm_restarts_) {
    options.compares_incarnations = warm_restarts_->compares_incarnations();
    options.reconnect = [this, &host, server] { return connect(host, server); };
  }
  return std::make_unique<Keys>(name_of(server), std::move(client), places_[server],
                                std::move(options));
}

void ChangeRun::call_misfortune_anywhere(fabric::Host& host) {
  if (warm_restarts_) call_misfortune(host, host.random(server_count));
}

void ChangeRun::call_misfortune(fabric::Host& host, std::size_t server) {
  if (warm_restarts_ && host.random(100) < warm_restarts_->crash_percent()) {
    crash_soon(host, server);
  }
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
    outlasts_settling_.reached_if(duration_ns > times_.settle_ns);
    world_.simulation().pause(name_of(server), duration_ns);
    world_.simulation().pause("client " + std::to_string(client),
                              duration_ns + host.random(heartbeat_timeout_ns));
  });
}

// A loss after the answer costs the keys that the server is just given.
void ChangeRun::note_late_losses(const FoundContents& found) {
  if (entry_.list.is_changing()) return;
  for (const auto& [name, contents] : found) {
    const std::size_t server = number_of(name);
    if (places_[server].contents != contents) lose_keys(server, entry_.list);
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
