#include "tools/nessie_scenario/run.h"

#include <algorithm>
#include <span>
#include <variant>

#include "stores/nessie/invariants.h"

namespace falafel::nessie_scenario {
namespace {

using nessie::Answer;

constexpr std::uint64_t microsecond_ns = 1'000;
// What a dead client has begun, or a CAS in doubt, may block a key for ever.
constexpr std::uint64_t most_attempts_after_failures = 4;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string text_of(const nessie::Bytes& bytes) {
  std::string text;
  for (const std::byte byte : bytes) text.push_back(static_cast<char>(byte));
  return text;
}

std::string peer(std::uint32_t number) { return "peer " + std::to_string(number); }

// The attempt's answer for the history; empty if the attempt may take effect later.
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

}  // namespace

Run::Run(check::World& world, const check::Plan<AttemptedMap>& plan, Variant variant)
    : world_(world),
      plan_(plan),
      variant_(variant),
      history_(world.history<AttemptedMap>()),
      nodes_(1 + static_cast<std::uint32_t>(world.choose(3))),
      options_(draw_options()),
      places_(nodes_) {}

nessie::Options Run::draw_options() {
  nessie::Options options = variant_ == Variant::hardened ? draw_hardened() : draw_published();
  draw_mechanisms(options);
  options.index_entries = 1 + world_.choose(3);
  options.data_entries = 3 + world_.choose(4);
  options.most_key_bytes = 8;
  options.most_value_bytes = 16;
  options.ways = 3 - static_cast<std::uint32_t>(world_.choose(2));
  options.hash_seed = world_.choose(64);
  options.most_migrations = 1 + static_cast<std::uint32_t>(world_.choose(3));
  options.clock_error_ns = 2 * microsecond_ns;
  options.expiration_ns = world_.one_of({30U, 10U, 100U, 1'000U}) * microsecond_ns;
  options.connect_timeout_ns = 20'000 * microsecond_ns;
  options.acknowledge_timeout_ns = 2'000 * microsecond_ns;
  options.retry_count = 1;
  return options;
}

void Run::draw_mechanisms(nessie::Options& options) {
  options.filter_bits = world_.one_of({7U, 1U, 0U});
  options.cache_entries = world_.one_of({0U, 2U});
  options.previous_versions = world_.choose(3) != 0;
  options.multi_read = world_.choose(2) != 0;
  options.lazy_marks = world_.choose(3) == 2;
  options.give_up_on_invalid =
      world_.choose(4) == 3 ? nessie::GiveUpOnInvalid::any : nessie::GiveUpOnInvalid::same_key;
  options.deadline_check =
      world_.one_of({nessie::DeadlineCheck::both, nessie::DeadlineCheck::at_end,
                     nessie::DeadlineCheck::before_each_verb});
}

nessie::Options Run::draw_published() {
  nessie::Options options;
  most_attempts_ = 4;
  options.emptied = world_.one_of({nessie::EmptyWord::constant, nessie::EmptyWord::keeps_dte});
  options.abort = world_.one_of({nessie::Abort::leave, nessie::Abort::restore});
  return options;
}

nessie::Options Run::draw_hardened() {
  nessie::Options options = nessie::Options::hardened();
  for (const nessie::SafeguardDescription& safeguard : nessie::safeguard_descriptions) {
    // With generations and validated hits, no operation depends on clocks.
    const bool matters = safeguard.enabled != &nessie::Safeguards::expiration &&
                         safeguard.enabled != &nessie::Safeguards::expiry_reset;
    if (matters) options.safeguards.*safeguard.enabled = world_.safeguard(safeguard.name);
  }
  if (!world_.safeguard("unique-empty-words")) options.emptied = nessie::EmptyWord::constant;
  if (!world_.safeguard("restored-words")) options.abort = nessie::Abort::leave;
  return options;
}

std::string Run::describe_options() const {
  const auto number = [](auto value) { return std::to_string(static_cast<unsigned>(value)); };
  return "nodes " + number(nodes_) + ", slots per node " + number(options_.index_entries) +
         ", DTEs per node " + number(options_.data_entries) + ", ways " + number(options_.ways) +
         ", hash seed " + number(options_.hash_seed) + ", filter bits " +
         number(options_.filter_bits) + ", cache entries " + number(options_.cache_entries) +
         ", previous versions " + number(options_.previous_versions) + ", multi read " +
         number(options_.multi_read) + ", lazy marks " + number(options_.lazy_marks) +
         ", give up on invalid " + number(options_.give_up_on_invalid) + ", deadline check " +
         number(options_.deadline_check) + ", empty word " + number(options_.emptied) + ", abort " +
         number(options_.abort) + ", expiration " +
         number(options_.expiration_ns / microsecond_ns) + " us";
}

void Run::execute() {
  for (std::uint64_t index = 0; index < options_.index_entries; ++index) {
    world_.name(index * 8, 8, "slot " + std::to_string(index));
  }
  world_.describe_words([](std::uint64_t word) { return nessie::describe(word); });
  world_.peers(nodes_,
               [this](fabric::Host& host, std::uint32_t number) { run_peer(host, number); });
  world_.at_rest([this] { inspect(); });
  world_.run();
}

// -------------------------------------------------------------------------------------------------
// Nodes

void Run::run_peer(fabric::Host& host, std::uint32_t number) {
  Place& place = places_[number];
  if (number == 0 && world_.listener() != nullptr) world_.note(host, describe_options());
  place.is_started = host.create_event();
  host.spawn({.name = "node", .daemon = true}, [this, &host, number] { serve(host, number); });
  while (place.node == nullptr) place.is_started->wait(fabric::never_ns);
  std::vector<fabric::FiberId> fibers;
  for (std::uint32_t client = number; client < plan_.clients(); client += nodes_) {
    fibers.push_back(
        host.spawn({.name = "client " + std::to_string(client)},
                   [this, &host, number, client] { run_client(host, number, client); }));
  }
  for (const fabric::FiberId fiber : fibers) host.join(fiber);
  if (number == 0) read_all(host);
}

// The node lives until the run is over, because other nodes use its memory.
void Run::serve(fabric::Host& host, std::uint32_t number) {
  Place& place = places_[number];
  auto node = nessie::Node::start(host, number, nodes_, options_);
  if (!node) return world_.fail("nessie.start", node.error().detail);
  const std::unique_ptr<fabric::Event> never = host.create_event();
  struct Owner {
    Place& place;
    ~Owner() { place.node.reset(); }
  } owner{place};
  place.node = std::move(*node);
  place.inspection = place.node->inspect();
  place.is_started->notify_all();
  never->wait(fabric::never_ns);
}

// -------------------------------------------------------------------------------------------------
// Clients

void Run::run_client(fabric::Host& host, std::uint32_t node, std::uint32_t client) {
  std::vector<fabric::Address> addresses;
  for (std::uint32_t number = 0; number < nodes_; ++number) {
    addresses.push_back({.host = peer(number), .service = options_.service});
  }
  auto connected = nessie::Client::connect(host, *places_[node].node, addresses, options_);
  if (connected) {
    if (client < plan_.clients()) {
      for (const AttemptedMap::Operation& operation : plan_.operations(client)) {
        execute(host, **connected, client, operation);
      }
    } else {
      for (std::uint64_t key = 0; key < most_keys; ++key) {
        execute(host, **connected, client,
                AttemptedMap::Get{std::string(1, static_cast<char>('a' + key))});
      }
    }
    (*connected)->mark_staged();
  }
  ++finished_;
}

void Run::execute(fabric::Host& host, nessie::Client& client, std::uint32_t number,
                  const AttemptedMap::Operation& operation) {
  nessie::Backoff backoff(host);
  for (std::uint64_t attempts = 1; !attempt(client, number, operation); ++attempts) {
    if (attempts == most_attempts_) return;
    if (has_failures_ && attempts >= most_attempts_after_failures) return;
    backoff.pause();
  }
}

bool Run::attempt(nessie::Client& client, std::uint32_t number,
                  const AttemptedMap::Operation& operation) {
  Answer answer = Answer::busy;
  history_.call(number, operation, [&]() -> std::optional<AttemptedMap::Result> {
    if (const auto* const get = std::get_if<AttemptedMap::Get>(&operation)) {
      const nessie::GetResult result = client.get(bytes_of(get->key));
      answer = result.answer;
      if (answer == Answer::found) {
        return AttemptedMap::Result(AttemptedMap::Map::found(text_of(result.value)));
      }
    } else if (const auto* const set = std::get_if<AttemptedMap::Set>(&operation)) {
      answer = client.put(bytes_of(set->key), bytes_of(set->value));
    } else {
      answer = client.remove(bytes_of(std::get<AttemptedMap::Remove>(operation).key));
    }
    return result_of(answer);
  });
  if (answer == Answer::disconnected || answer == Answer::unknown_outcome) has_failures_ = true;
  return answer != Answer::busy;
}

// When all clients have finished, or have had time to.
void Run::read_all(fabric::Host& host) {
  constexpr int most_waits = 100;
  for (int waits = 0; waits < most_waits && finished_ < plan_.clients(); ++waits) {
    host.sleep_until(host.now_ns() + 20 * microsecond_ns);
  }
  run_client(host, 0, plan_.clients());
}

// -------------------------------------------------------------------------------------------------

void Run::inspect() {
  const auto& faults = world_.result().faults;
  const auto strikes = [&faults](sim::FaultKind kind) {
    return faults[static_cast<std::size_t>(kind)];
  };
  // What a dead node was doing remains as it is, and its memory is lost.
  if (strikes(sim::FaultKind::client_crash) > 0) return;
  const bool has_doubts = strikes(sim::FaultKind::queue_pair_error) > 0;
  const bool leaves = options_.abort == nessie::Abort::leave;
  std::vector<nessie::NodeInspection> nodes;
  nodes.reserve(places_.size());
  for (const Place& place : places_) nodes.push_back(*place.inspection);
  const auto problems = nessie::find_problems(
      nodes, options_,
      {.invalid_entries = has_doubts || leaves, .lost_entries = has_doubts || leaves});
  if (!problems.empty()) world_.fail("nessie.rest", problems.front());
}

}  // namespace falafel::nessie_scenario
