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

ChangeRun::ChangeRun(check::World& world, const check::Plan<AttemptedMap>& plan,
                     const ChangingRuns& runs)
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
  if (runs.warm == WarmRuns::only || (runs.warm == WarmRuns::some && world_.choose(2) == 0)) {
    warm_restarts_.emplace(world_);
  }
  server_options_.geometry.values_expire = runs.are_caches;
  if (!runs.are_caches) return;
  lifetimes_.emplace();
  copies_lifetime_ = &world_.sometimes("a value that expires is copied");
  copies_pin_ = &world_.sometimes("a pinned value is copied");
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
  ChangeAttempt attempt{
      .number = number, .strays = StrayWatch(is_repeated), .lease = LeaseWatch(times_.lease_ns)};
  if (warm_restarts_) attempt.restarts.emplace(warm_restarts_->watch(), number);
  Directory directory = directory_of_change(host, attempt);
  engine::ChangeTools tools{
      .directory = directory,
      .reach =
          [&](const std::string& server, const engine::MayChange& may_change) {
            return reach(host, number_of(server), may_change, attempt);
          },
      .now_ns = [&] { return host.now_ns(); },
      .wait = [&](std::uint64_t duration_ns) { settle(host, duration_ns, attempt); },
      .own_number = 1 + host.random(1'000'000'000),
      .may_delete_strays = is_repeated};
  const auto changed = change_placement(tools, changes_[number]);
  if (changed) moved_ += changed->moved;
  if (changed && attempt.restarts) attempt.restarts->on_done();
  return changed.has_value();
}

Directory ChangeRun::directory_of_change(fabric::Host& host, ChangeAttempt& attempt) {
  return {host,
          entry_,
          {.on_call = [this, &host] { call_misfortune_anywhere(host); },
           .on_replace =
               [this, &attempt] {
                 const auto objection = attempt.strays.objection_to_replacement();
                 if (objection) world_.fail("cluster.deletes-stray", *objection);
               },
           .on_replaced = [this, &attempt] { note_late_losses(attempt.found); },
           .on_read =
               [this, &attempt](const Directory::Reading& reading) {
                 attempt.strays.on_list_read(reading.entry.list);
                 attempt.lease.on_list_read(reading.read_ns);
                 hears_late_.reached_if(reading.answered_ns - reading.asked_ns > times_.lease_ns);
               }}};
}

void ChangeRun::settle(fabric::Host& host, std::uint64_t duration_ns, ChangeAttempt& attempt) {
  ++steps_;
  if (attempt.restarts) attempt.restarts->settle(true);
  call_misfortune_anywhere(host);
  host.sleep_until(host.now_ns() + duration_ns);
  if (attempt.restarts) attempt.restarts->settle(false);
  ++steps_;
}

engine::ReachedKeys ChangeRun::reach(fabric::Host& host, std::size_t server,
                                     const engine::MayChange& may_change, ChangeAttempt& attempt) {
  auto client = connect(host, server);
  if (client == nullptr) return tl::unexpected(std::string("away"));
  Keys::Options options = options_of_keys(host, server, attempt);
  options.may_change = [this, &host, &attempt, may_change] {
    if (!may_change()) return false;
    const auto objection = attempt.lease.objection_to_change(host.now_ns());
    if (objection) world_.fail("cluster.operates-late", *objection);
    return true;
  };
  if (warm_restarts_) {
    options.compares_incarnations = warm_restarts_->compares_incarnations();
    options.reconnect = [this, &host, server] { return connect(host, server); };
  }
  return std::make_unique<Keys>(name_of(server), std::move(client), places_[server],
                                std::move(options));
}

Keys::Options ChangeRun::options_of_keys(fabric::Host& host, std::size_t server,
                                         ChangeAttempt& attempt) {
  const auto on_read = [this, server, &attempt] {
    if (attempt.restarts && entry_.list.is_changing()) attempt.restarts->read_at(server);
  };
  const auto on_copied = [this, &host, server, &attempt](const Keys::Copy& copy) {
    note_copy(copy, host.now_ns());
    changes_with_copies_.insert(attempt.number);
    if (attempt.restarts) attempt.restarts->copied_to(server);
    if (host.random(100) < crash_percent_) crash_soon(host, server);
  };
  const auto on_copy = [this, &host](const Keys::Copy& copy) { judge_copy(copy, host.now_ns()); };
  const auto on_listed = [server, &attempt](const ServerKeys::Contents& contents) {
    attempt.strays.on_listed(name_of(server), contents);
  };
  const auto on_got = [server, &attempt](std::span<const std::byte> key, Answer answer) {
    attempt.strays.on_got(name_of(server), key, answer);
  };
  return {.found = asks_for_copies_ ? &attempt.found : nullptr,
          .waits_for_end = waits_for_end_,
          .on_call = [this, &host, server] { call_misfortune(host, server); },
          .on_read = on_read,
          .on_copy = on_copy,
          .on_copied = on_copied,
          .on_broken = [this] { breaks_copies_off_.reached(); },
          .on_listed = on_listed,
          .on_got = on_got};
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

}  // namespace falafel::cluster_scenario
