#include "tools/scenarios/nessie/run.h"

#include <algorithm>
#include <span>
#include <variant>

#include "fabric/text.h"
#include "tools/scenarios/colliding_values.h"

namespace falafel::nessie_scenario {
namespace {

using fabric::bytes_of;
using fabric::text_of;
using nessie::Answer;

// An operation of a dead client, or a CAS in doubt, may block a key for ever.
constexpr std::uint64_t most_attempts_after_failures = 4;

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

// A value of the plan has two equal words, and an adversary's one pair of words instead.
std::vector<std::byte> encode_value(const std::string& value, Values values) {
  const std::span<const std::byte> bytes = bytes_of(value);
  if (values == Values::equal_words) return {bytes.begin(), bytes.end()};
  return scenarios::colliding_value(bytes.first(bytes.size() / 2), 1, 0);
}

std::string decode_value(std::span<const std::byte> bytes, Values values) {
  if (values == Values::equal_words) return text_of(bytes);
  const std::string half = text_of(bytes.first(bytes.size() / 2));
  return std::ranges::equal(encode_value(half + half, values), bytes) ? half + half : "a mixture";
}

}  // namespace

Run::Run(check::World& world, const check::Plan<AttemptedMap>& plan, const Kind& kind)
    : world_(world),
      plan_(plan),
      kind_(kind),
      history_(world.history<AttemptedMap>()),
      store_(draw_store(world, kind)),
      conditions_(world, kind),
      places_(store_.nodes) {}

void Run::name_memory() {
  for (std::uint64_t index = 0; index < store_.options.index_entries; ++index) {
    world_.name(index * 8, 8, "slot " + std::to_string(index));
  }
  world_.describe_words([](std::uint64_t word) { return nessie::describe(word); });
}

// Forbids ABA on ITEs that clients change by compare-and-swap, with all remedies on. A PUT that
// gives up swaps its ITE back to the replaced word, which refers to the same use of the same DTE.
void Run::forbid_aba() {
  const bool swaps = kind_.architecture != nessie::Architecture::server_driven;
  if (!swaps || kind_.variant != Variant::hardened) return;
  world_.forbid_aba(0, store_.options.index_entries * 8);
  world_.permit_undone_swaps();
}

// All hosts have devices of one kind. Without the order of addresses, a watermark says nothing.
void Run::choose_completion(fabric::Host& host) {
  const bool has_order = host.device(0).attributes().places_in_address_order;
  if (!has_order && !store_.trusts_watermarks) {
    store_.options.completion = nessie::Completion::queue;
  }
  if (store_.options.completion == nessie::Completion::watermark) conditions_.note_watermarks();
}

void Run::execute() {
  name_memory();
  forbid_aba();
  world_.peers(store_.nodes,
               [this](fabric::Host& host, std::uint32_t number) { run_peer(host, number); });
  world_.at_rest([this] { inspect(); });
  world_.run();
}

// -------------------------------------------------------------------------------------------------
// Nodes

void Run::run_peer(fabric::Host& host, std::uint32_t number) {
  Place& place = places_[number];
  choose_completion(host);
  if (number == 0 && world_.listener() != nullptr) world_.note(host, describe(store_));
  place.is_started = host.create_event();
  host.spawn({.name = "node", .daemon = true}, [this, &host, number] { serve(host, number); });
  while (place.node == nullptr) place.is_started->wait(fabric::never_ns);
  std::vector<fabric::FiberId> fibers;
  for (std::uint32_t client = number; client < plan_.clients(); client += store_.nodes) {
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
  auto node = nessie::Node::start(host, number, store_.nodes, store_.options);
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
  for (std::uint32_t number = 0; number < store_.nodes; ++number) {
    addresses.push_back({.host = peer(number), .service = store_.options.service});
  }
  auto connected = nessie::Client::connect(host, *places_[node].node, addresses, store_.options);
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
    note((*connected)->statistics());
  }
  ++finished_;
}

void Run::execute(fabric::Host& host, nessie::Client& client, std::uint32_t number,
                  const AttemptedMap::Operation& operation) {
  nessie::Backoff backoff(host);
  for (std::uint64_t attempts = 1; !attempt(client, number, operation); ++attempts) {
    if (attempts == store_.most_attempts) return;
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
        return AttemptedMap::Result(
            AttemptedMap::Map::found(decode_value(result.value, store_.values)));
      }
    } else if (const auto* const set = std::get_if<AttemptedMap::Set>(&operation)) {
      answer = client.put(bytes_of(set->key), encode_value(set->value, store_.values));
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

void Run::note(const nessie::OperationStatistics& statistics) {
  conditions_.note(statistics);
  const auto& node = places_[0].inspection;
  if (node && node->service != nullptr) conditions_.note(*node->service);
}

nessie::Remains Run::remains() const {
  if (kind_.architecture != nessie::Architecture::client_driven) return {};
  const auto& faults = world_.result().faults;
  const bool has_doubts = faults[static_cast<std::size_t>(sim::FaultKind::queue_pair_error)] > 0;
  const bool leaves = store_.options.abort == nessie::Abort::leave;
  return {.invalid_entries = has_doubts || leaves, .lost_entries = has_doubts || leaves};
}

void Run::inspect() {
  // The work of a dead node remains as it is, and its memory is lost.
  const auto& faults = world_.result().faults;
  if (faults[static_cast<std::size_t>(sim::FaultKind::client_crash)] > 0) return;
  std::vector<nessie::NodeInspection> nodes;
  nodes.reserve(places_.size());
  for (const Place& place : places_) {
    // A worker was stopped in the middle of a request.
    if (place.inspection->service != nullptr && place.inspection->service->busy > 0) return;
    nodes.push_back(*place.inspection);
  }
  const auto problems = nessie::find_problems(nodes, store_.options, remains());
  if (!problems.empty()) world_.fail("nessie.rest", problems.front());
}

}  // namespace falafel::nessie_scenario
