#include "tools/scenarios/replicated/run.h"

#include <algorithm>
#include <span>
#include <variant>

#include "fabric/time_units.h"

namespace falafel::replicated_scenario {
namespace {

using replicated::Answer;

using fabric::microsecond_ns;

std::string server_name(std::size_t number) { return "server " + std::to_string(number); }

std::string key_of_operation(const AttemptedRegisters::Operation& operation) {
  return std::visit([](const auto& known) { return known.key; }, operation);
}

AttemptedRegisters::Result answered(AttemptedRegisters::Map::Result result) {
  return {.kind = AttemptedRegisters::Kind::answered, .answer = std::move(result)};
}

}  // namespace

Run::Run(check::World& world, const check::Plan<AttemptedRegisters>& plan)
    : world_(world),
      plan_(plan),
      history_(world.history<AttemptedRegisters>()),
      has_read_after_loss_(world.sometimes("a server is gone, and a value is found")),
      has_written_back_(world.sometimes("a GET writes back what it found at a minority")),
      has_guessed_(world.sometimes("a SET takes one step")),
      has_withdrawn_(world.sometimes("a SET was overtaken, and writes again")),
      has_found_mark_(world.sometimes("a SET was overtaken, and a reader counts it")),
      options_(draw_options()) {}

replicated::Options Run::draw_options() {
  replicated::Options options;
  for (const replicated::SafeguardDescription& safeguard : replicated::safeguard_descriptions) {
    options.safeguards.*safeguard.enabled = world_.safeguard(safeguard.name);
  }
  options.guesses = world_.choose(4) != 3;
  options.locations = world_.choose(2) == 0;
  options.keys = key_count;
  options.writers = plan_.clients();
  options.containers_per_writer = 64;
  options.value_bytes = 16;
  options.connect_timeout_ns = 2'000 * microsecond_ns;
  options.acknowledge_timeout_ns = 500 * microsecond_ns;
  options.retry_count = 1;
  options.connections_per_request = world_.one_of({3U, 1U});
  return options;
}

void Run::execute() {
  for (std::uint64_t key = 0; key < key_count; ++key) {
    world_.name(key * fabric::word_bytes, fabric::word_bytes, "word of " + key_of(key));
  }
  world_.describe_words(
      [](std::uint64_t word) { return replicated::describe(replicated::Word(word)); });
  for (std::size_t number = 0; number < server_count; ++number) {
    world_.server(server_name(number), [this, number](fabric::Host& host) { serve(host, number); });
  }
  world_.clients(plan_.clients(),
                 [this](fabric::Host& host, std::uint32_t number) { run_client(host, number); });
  world_.run();
  if (failed_ && !may_fail()) world_.fail("replicated.available", *failed_);
}

// Broken connections and time-outs that pass can keep a client from any server.
bool Run::may_fail() const {
  const auto& faults = world_.result().faults;
  const auto strikes = [&faults](sim::FaultKind kind) {
    return faults[static_cast<std::size_t>(kind)];
  };
  return strikes(sim::FaultKind::latency_spike) > 0 || strikes(sim::FaultKind::late_packets) > 0 ||
         strikes(sim::FaultKind::server_stop) > 0 || strikes(sim::FaultKind::server_stall) > 0 ||
         strikes(sim::FaultKind::queue_pair_error) >= options_.connections_per_request;
}

void Run::serve(fabric::Host& host, std::size_t number) {
  Place& place = places_[number];
  // This scenario decides who is a member: whoever is in its first life.
  const auto server = replicated::start_server(host, place.lives + 1, options_);
  if (!server) return world_.fail("replicated.start", server.error().detail);
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

bool Run::has_lost_a_server() const {
  return std::ranges::any_of(places_, [](const Place& place) { return !place.is_intact(); });
}

// Clients

std::unique_ptr<replicated::Client> Run::connect(fabric::Host& host, std::uint32_t number) {
  // A server may stop before it has started.
  constexpr int most_waits = 50;
  const auto has_started = [](const Place& place) { return place.lives > 0; };
  for (int waits = 0; waits < most_waits && !std::ranges::all_of(places_, has_started); ++waits) {
    host.sleep_until(host.now_ns() + 20 * microsecond_ns);
  }
  std::vector<stores::Member> members;
  for (std::size_t server = 0; server < server_count; ++server) {
    members.push_back(
        {.address = {.host = server_name(server), .service = options_.service}, .incarnation = 1});
  }
  auto client = replicated::Client::create(host, number, members, options_);
  if (!client) {
    world_.fail("replicated.start", client.error().detail);
    return nullptr;
  }
  return std::move(*client);
}

void Run::run_client(fabric::Host& host, std::uint32_t number) {
  const auto client = connect(host, number);
  if (client == nullptr) return;
  for (const AttemptedRegisters::Operation& operation : plan_.operations(number)) {
    attempt(*client, number, operation);
  }
  for (std::uint64_t key = 0; key < key_count; ++key) {
    attempt(*client, number, AttemptedRegisters::Get{key_of(key)});
  }
  count(*client);
}

void Run::count(const replicated::Client& client) {
  const replicated::Statistics& statistics = client.statistics();
  has_written_back_.reached_if(statistics.write_backs > 0);
  has_guessed_.reached_if(statistics.guessed > 0);
  has_withdrawn_.reached_if(statistics.withdrawn > 0);
  has_found_mark_.reached_if(statistics.found_marks > 0);
}

void Run::attempt(replicated::Client& client, std::uint32_t number,
                  const AttemptedRegisters::Operation& operation) {
  history_.call(number, operation, [&] { return execute(client, operation); });
}

std::optional<AttemptedRegisters::Result> Run::execute(
    replicated::Client& client, const AttemptedRegisters::Operation& operation) {
  using Map = AttemptedRegisters::Map;
  const std::uint64_t key = static_cast<std::uint64_t>(key_of_operation(operation)[0] - 'a');
  Answer answer = Answer::disconnected;
  std::string value;
  if (std::holds_alternative<AttemptedRegisters::Get>(operation)) {
    const replicated::GetResult result = client.get(key);
    answer = result.answer;
    value.assign(reinterpret_cast<const char*>(result.value.data()), result.value.size());
    has_read_after_loss_.reached_if(answer == Answer::found && has_lost_a_server());
  } else if (const auto* const set = std::get_if<AttemptedRegisters::Set>(&operation)) {
    answer = client.set(key, std::as_bytes(std::span(set->value)));
  } else {
    answer = client.remove(key);
  }
  switch (answer) {
    case Answer::found: return answered(Map::found(std::move(value)));
    case Answer::stored: return answered(Map::Result());
    case Answer::deleted:
      if (options_.safeguards.blind_deletes) {
        return AttemptedRegisters::Result{.kind = AttemptedRegisters::Kind::done};
      }
      return answered(Map::removed());
    case Answer::not_found: return answered(Map::absent());
    default: break;
  }
  const auto intact =
      std::ranges::count_if(places_, [](const Place& place) { return place.is_intact(); });
  if (intact > static_cast<std::ptrdiff_t>(server_count / 2) && !failed_) {
    failed_ = "a majority of the servers is intact, but an operation answers: " +
              std::string(stores::to_string(answer));
  }
  if (answer == Answer::unknown_outcome) return std::nullopt;
  return AttemptedRegisters::Result();
}

}  // namespace falafel::replicated_scenario
