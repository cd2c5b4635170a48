#include "tools/scenarios/swarm/run.h"

#include <algorithm>
#include <span>
#include <variant>

#include "fabric/time_units.h"
#include "stores/swarm/invariants.h"
#include "stores/swarm/layout.h"

namespace falafel::swarm_scenario {
namespace {

using fabric::microsecond_ns;
using swarm::Answer;

std::string node_name(std::size_t number) { return "node " + std::to_string(number); }

AttemptedRegisters::Result answered(AttemptedRegisters::Map::Result result) {
  return {.kind = AttemptedRegisters::Kind::answered, .answer = std::move(result)};
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

Run::Conditions::Conditions(check::World& world)
    : has_read_after_loss(world.sometimes("a node is gone, and a value is found")),
      has_read_in_place(world.sometimes("a GET finds its value in place")),
      has_read_out_of_place(world.sometimes("a GET fetches its value from a buffer")),
      has_written_back(world.sometimes("a GET writes back what it found at a minority")),
      has_guessed(world.sometimes("a SET takes one round trip")),
      has_withdrawn(world.sometimes("a SET was overtaken, and writes again")),
      has_found_lock(world.sometimes("a SET was overtaken, and a reader counts it")),
      has_returned_first_guess(world.sometimes("a GET returns the first of two guesses")),
      has_lost_insert(world.sometimes("two clients insert a key")) {}

void Run::Conditions::count(const swarm::Statistics& statistics) const {
  has_read_in_place.reached_if(statistics.in_place > 0);
  has_read_out_of_place.reached_if(statistics.out_of_place > 0);
  has_written_back.reached_if(statistics.write_backs > 0);
  has_guessed.reached_if(statistics.guessed > 0);
  has_withdrawn.reached_if(statistics.withdrawn > 0);
  has_found_lock.reached_if(statistics.found_locks > 0);
  has_returned_first_guess.reached_if(statistics.first_guesses > 0);
  has_lost_insert.reached_if(statistics.lost_inserts > 0);
}

Run::Run(check::World& world, const check::Plan<AttemptedRegisters>& plan)
    : world_(world),
      plan_(plan),
      history_(world.history<AttemptedRegisters>()),
      conditions_(world),
      options_(draw_options()),
      places_(memory_nodes + (options_.safeguards.own_index_node ? 1 : 0)) {}

swarm::Options Run::draw_options() {
  swarm::Options options;
  for (const swarm::SafeguardDescription& safeguard : swarm::safeguard_descriptions) {
    options.safeguards.*safeguard.enabled = world_.safeguard(safeguard.name);
  }
  options.guesses = world_.choose(8) != 7;
  options.in_place = world_.choose(4) != 3;
  options.contacts = world_.one_of({swarm::Contacts::majority, swarm::Contacts::all});
  options.metadata_words = world_.one_of({0U, 1U, 1U, 2U});
  options.cached_keys = world_.one_of({8U, 1U, 0U});
  // A tick of a second: timestamps follow from what clients see alone.
  options.tick_ns = world_.one_of({400U, 40U, 1'000'000'000U});
  options.ticks_ahead = world_.one_of({3U, 1U});
  options.writers = std::max(1U, plan_.clients());  // none when safeguards are listed
  options.registers_per_writer = 2;
  options.buffers_per_writer = 16;
  options.index_bits = 2;
  options.fingerprint_bits = world_.one_of({8U, 0U});
  options.key_bytes = 8;
  options.value_bytes = 16;
  options.connect_timeout_ns = 2'000 * microsecond_ns;
  options.acknowledge_timeout_ns = 500 * microsecond_ns;
  options.retry_count = 1;
  options.connections_per_request = world_.one_of({3U, 1U});
  return options;
}

void Run::execute() {
  world_.describe_words([](std::uint64_t word) { return swarm::describe(swarm::Word(word)); });
  const swarm::Layout layout(options_);
  for (std::uint64_t number = 0; number < layout.registers(); ++number) {
    const std::string name = "register " + std::to_string(number);
    world_.name(layout.register_offset(number), layout.record_bytes(), name + " in place");
    world_.name(layout.words_offset(number), layout.words() * fabric::word_bytes, name);
  }
  for (std::size_t number = 0; number < places_.size(); ++number) {
    world_.server(node_name(number), [this, number](fabric::Host& host) { serve(host, number); });
  }
  world_.clients(plan_.clients(),
                 [this](fabric::Host& host, std::uint32_t number) { run_client(host, number); });
  world_.at_rest([this] { judge_memory(); });
  world_.run();
  if (failed_ && !may_fail()) world_.fail("swarm.available", *failed_);
}

// Broken connections and time-outs that pass can keep a client from any node.
bool Run::may_fail() const {
  const auto& faults = world_.result().faults;
  const auto strikes = [&faults](sim::FaultKind kind) {
    return faults[static_cast<std::size_t>(kind)];
  };
  return strikes(sim::FaultKind::latency_spike) > 0 || strikes(sim::FaultKind::late_packets) > 0 ||
         strikes(sim::FaultKind::server_stop) > 0 || strikes(sim::FaultKind::server_stall) > 0 ||
         strikes(sim::FaultKind::queue_pair_error) >= options_.connections_per_request;
}

void Run::judge_memory() {
  std::vector<std::shared_ptr<fabric::MemoryBlock>> nodes(places_.size());
  std::ranges::transform(places_, nodes.begin(), [](const Place& place) {
    return place.lives == 1 ? place.memory : nullptr;
  });
  const auto problems = swarm::find_problems(nodes, options_);
  if (!problems.empty()) world_.fail("swarm.memory", problems.front());
}

void Run::serve(fabric::Host& host, std::size_t number) {
  Place& place = places_[number];
  // This scenario decides who is a member: whoever is in its first life.
  const auto node = swarm::start_node(host, place.lives + 1, options_);
  if (!node) return world_.fail("swarm.start", node.error().detail);
  place.memory = (*node)->memory();
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

std::size_t Run::intact_memory_nodes() const {
  std::size_t intact = 0;
  for (std::size_t node = 0; node < memory_nodes; ++node) intact += places_[node].is_intact();
  return intact;
}

bool Run::is_index_intact() const {
  return places_.size() == memory_nodes || places_.back().is_intact();
}

// Clients

std::unique_ptr<swarm::Client> Run::connect(fabric::Host& host, std::uint32_t number) {
  // A node may stop before it has started.
  constexpr int most_waits = 50;
  const auto has_started = [](const Place& place) { return place.lives > 0; };
  for (int waits = 0; waits < most_waits && !std::ranges::all_of(places_, has_started); ++waits) {
    host.sleep_until(host.now_ns() + 20 * microsecond_ns);
  }
  std::vector<stores::Member> members;
  for (std::size_t node = 0; node < places_.size(); ++node) {
    members.push_back(
        {.address = {.host = node_name(node), .service = options_.service}, .incarnation = 1});
  }
  auto client = swarm::Client::create(host, number, members, options_);
  if (!client) {
    world_.fail("swarm.start", client.error().detail);
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
  conditions_.count(client->statistics());
}

void Run::attempt(swarm::Client& client, std::uint32_t number,
                  const AttemptedRegisters::Operation& operation) {
  history_.call(number, operation, [&] { return execute(client, operation); });
}

// A GET locks one guess of each writer at most: with the second one, it returns the first.
void Run::judge_locks(std::uint64_t locked) {
  if (locked <= options_.writers) return;
  world_.fail("swarm.bounded", "a GET has locked " + std::to_string(locked) + " guesses of " +
                                   std::to_string(options_.writers) + " writers");
}

std::optional<AttemptedRegisters::Result> Run::execute(
    swarm::Client& client, const AttemptedRegisters::Operation& operation) {
  using Map = AttemptedRegisters::Map;
  Answer answer = Answer::disconnected;
  std::string value;
  if (const auto* const get = std::get_if<AttemptedRegisters::Get>(&operation)) {
    const std::uint64_t locked_before = client.statistics().locked;
    const swarm::GetResult result = client.get(bytes_of(get->key));
    judge_locks(client.statistics().locked - locked_before);
    answer = result.answer;
    value.assign(reinterpret_cast<const char*>(result.value.data()), result.value.size());
    conditions_.has_read_after_loss.reached_if(answer == Answer::found &&
                                               intact_memory_nodes() < memory_nodes);
  } else if (const auto* const set = std::get_if<AttemptedRegisters::Set>(&operation)) {
    answer = client.set(bytes_of(set->key), bytes_of(set->value));
  } else {
    answer = client.remove(bytes_of(std::get<AttemptedRegisters::Remove>(operation).key));
  }
  switch (answer) {
    case Answer::found: return answered(Map::found(std::move(value)));
    case Answer::stored: return answered(Map::Result());
    case Answer::deleted: return AttemptedRegisters::Result{.kind = AttemptedRegisters::Kind::done};
    case Answer::not_found: return answered(Map::absent());
    default: break;
  }
  if (intact_memory_nodes() > memory_nodes / 2 && is_index_intact() && !failed_) {
    failed_ = "a majority of the nodes is intact, but an operation answers: " +
              std::string(stores::to_string(answer));
  }
  if (answer == Answer::unknown_outcome) return std::nullopt;
  return AttemptedRegisters::Result();
}

}  // namespace falafel::swarm_scenario
