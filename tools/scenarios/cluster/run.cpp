// Every client connects to all servers, runs its operations, and then reads all keys. A client that
// finds a server gone does without it: attempts on its keys give up.
#include "tools/scenarios/cluster/run.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "fabric/text.h"
#include "fabric/time_units.h"

namespace falafel::cluster_scenario {
namespace {

using checkers::specifications::AttemptedMap;
using engine::Answer;
using fabric::bytes_of;
using fabric::microsecond_ns;
using fabric::second_ns;

std::string server_name(std::size_t number) { return "server " + std::to_string(number); }

engine::ServerOptions small_server() {
  // The keys of these servers fit several times, so nothing is refused. No heartbeat is late.
  return {.geometry = {.table_entries = 16,
                       .region_bytes = 512,
                       .region_count = 8,
                       .mature_bytes = 2'048},
          .heartbeat_timeout_ns = 1'000 * second_ns,
          .hash_key = engine::HashKey{}};
}

std::string key_of_operation(const AttemptedMap::Operation& operation) {
  return std::visit([](const auto& known) { return known.key; }, operation);
}

// The answer for the history; empty if the attempt may take effect later.
std::optional<AttemptedMap::Result> result_of(Answer answer) {
  using Map = AttemptedMap::Map;
  switch (answer) {
    case Answer::stored: return AttemptedMap::Result(Map::Result());
    case Answer::deleted: return AttemptedMap::Result(Map::removed());
    case Answer::not_found: return AttemptedMap::Result(Map::absent());
    case Answer::unknown_outcome: return std::nullopt;
    default: return AttemptedMap::Result();
  }
}

bool is_normal(Answer answer) {
  return answer == Answer::found || answer == Answer::not_found || answer == Answer::stored ||
         answer == Answer::deleted;
}

}  // namespace

std::string key_of(std::uint64_t number) {
  return std::string(1, static_cast<char>('a' + static_cast<char>(number)));
}

Run::Run(check::World& world, const check::Plan<AttemptedMap>& plan)
    : world_(world),
      plan_(plan),
      history_(world.history<AttemptedMap>()),
      has_lost_keys_(world.sometimes("a server is gone, and another one's key is found")),
      has_same_servers_(world.safeguard("same-servers")),
      server_options_(small_server()) {}

void Run::execute() {
  for (std::size_t number = 0; number < server_count; ++number) {
    world_.server(server_name(number),
                  [this, number](fabric::Host& host) { serve(host, places_[number]); });
  }
  world_.clients(plan_.clients(),
                 [this](fabric::Host& host, std::uint32_t number) { run_client(host, number); });
  world_.run();
  // During a latency spike, all time-outs pass.
  const bool had_spike =
      world_.result().faults[static_cast<std::size_t>(sim::FaultKind::latency_spike)] > 0;
  if (unexpected_ && !had_spike) world_.fail("cluster.other-servers", *unexpected_);
}

void Run::serve(fabric::Host& host, Place& place) {
  const auto server = engine::Server::start(host, server_options_);
  if (!server) return world_.fail("cluster.start", server.error().detail);
  struct Presence {
    Place& place;
    explicit Presence(Place& present) : place(present) {
      ++place.lives;
      place.is_up = true;
    }
    ~Presence() { place.is_up = false; }
  } const presence(place);
  host.create_event()->wait(fabric::never_ns);
}

// Clients

void Run::run_client(fabric::Host& host, std::uint32_t number) {
  const Connections connections = connect(host);
  const engine::RendezvousHashing hashing = hashing_of(number);
  for (const AttemptedMap::Operation& operation : plan_.operations(number)) {
    attempt(connections, hashing, number, operation);
  }
  for (std::uint64_t key = 0; key < most_keys; ++key) {
    attempt(connections, hashing, number, AttemptedMap::Get{key_of(key)});
  }
}

Run::Connections Run::connect(fabric::Host& host) {
  Connections connections;
  for (std::size_t server = 0; server < server_count; ++server) {
    connections[server] = connect(host, server);
  }
  return connections;
}

std::unique_ptr<engine::Client> Run::connect(fabric::Host& host, std::size_t server) {
  const Place& place = places_[server];
  while (place.lives == 0) host.sleep_until(host.now_ns() + 20 * microsecond_ns);
  auto client = engine::Client::connect(
      host, {.host = server_name(server), .service = server_options_.service}, {});
  // A server that is intact now has been so since before the call.
  if (!client || !place.is_intact()) return nullptr;
  return std::move(*client);
}

engine::RendezvousHashing Run::hashing_of(std::uint32_t client) const {
  std::vector<std::string> names;
  for (std::size_t server = 0; server < server_count; ++server) {
    names.push_back(server_name(server));
  }
  // Without the safeguard, the first client does not know the last server yet.
  if (!has_same_servers_ && client == 0) names.pop_back();
  return engine::RendezvousHashing(std::vector<std::string_view>(names.begin(), names.end()));
}

void Run::attempt(const Connections& connections, const engine::RendezvousHashing& hashing,
                  std::uint32_t number, const AttemptedMap::Operation& operation) {
  const std::string key = key_of_operation(operation);
  const std::size_t server = hashing.server_of(bytes_of(key));
  engine::Client* const client = connections[server].get();
  if (client == nullptr) return;
  history_.call(number, operation, [&]() -> std::optional<AttemptedMap::Result> {
    if (std::holds_alternative<AttemptedMap::Get>(operation)) {
      const engine::GetResult result = client->get(bytes_of(key));
      check_answer(server, result.answer);
      if (result.answer != Answer::found) return result_of(result.answer);
      const std::string_view text(reinterpret_cast<const char*>(result.value.data()),
                                  result.value.size());
      return AttemptedMap::Result(AttemptedMap::Map::found(std::string(text)));
    }
    const auto* const set = std::get_if<AttemptedMap::Set>(&operation);
    const Answer answer = set != nullptr ? client->set(bytes_of(key), bytes_of(set->value)).answer
                                         : client->remove(bytes_of(key)).answer;
    check_answer(server, answer);
    return result_of(answer);
  });
}

void Run::check_answer(std::size_t server, Answer answer) {
  if (is_normal(answer)) {
    has_lost_keys_.reached_if(
        answer == Answer::found &&
        std::ranges::any_of(places_, [](const Place& place) { return !place.is_intact(); }));
  } else if (places_[server].is_intact() && !unexpected_) {
    unexpected_ =
        server_name(server) + ", which is intact, answers: " + std::string(to_string(answer));
  }
}

}  // namespace falafel::cluster_scenario
