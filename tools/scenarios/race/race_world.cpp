#include "tools/scenarios/race/race_world.h"

#include <set>
#include <span>
#include <utility>
#include <vector>

#include "fabric/at_end.h"
#include "fabric/time_units.h"
#include "stores/race/invariants.h"
#include "tools/scenarios/map_calls.h"
#include "tools/scenarios/race/values.h"

namespace falafel::race_scenario {
namespace {

using fabric::microsecond_ns;
using fabric::millisecond_ns;
using race::Answer;

struct Coding {
  std::vector<std::byte> encode(const std::string& value) const { return encode_value(value); }
  std::string decode(std::span<const std::byte> bytes) const { return decode_value(bytes); }
};

}  // namespace

struct RaceWorld::Conditions {
  check::Condition& reused;
  check::Condition& retried;
  check::Condition& lost_swap;
  check::Condition& duplicate;
  check::Condition& other_key;
  check::Condition& reconnected;
  check::Condition& split;
  check::Condition& helped;
  check::Condition& went_elsewhere;
};

RaceWorld::RaceWorld(check::World& world, const check::Plan<Map>& plan)
    : world_(world),
      plan_(plan),
      history_(world.history<Map>()),
      options_(draw_options()),
      conditions_(std::make_shared<Conditions>(Conditions{
          .reused = world.sometimes("a block was used again"),
          .retried = world.sometimes("a block did not verify"),
          .lost_swap = world.sometimes("a client has lost a CAS"),
          .duplicate = world.sometimes("an insert has found another copy of its key"),
          .other_key = world.sometimes("a fingerprint matched another key"),
          .reconnected = world.sometimes("a client has connected again"),
          .split = world.sometimes("a subtable was split"),
          .helped = world.sometimes("a client has finished the split of another one"),
          .went_elsewhere = world.sometimes("a client has read the directory again")})) {}

// The first value of each choice is the simplest.
race::Options RaceWorld::draw_options() {
  race::Options options;
  options.groups_per_subtable = world_.one_of<std::uint64_t>({1, 1, 1, 2, 4});
  options.slots_per_bucket = world_.one_of<std::uint32_t>({1, 1, 1, 2, 3});
  options.fingerprint_bits = world_.one_of<std::uint32_t>({0, 1, 8});
  options.initial_depth = world_.one_of<std::uint32_t>({0, 0, 1});
  options.most_depth = world_.one_of<std::uint32_t>({3, 3, 2, 1});
  options.most_split_waits = world_.one_of<std::uint32_t>({100, 100, 10, 1});
  options.heap_bytes = 64 << 10;
  options.segment_bytes = world_.one_of<std::uint32_t>({512, 4'096});
  options.most_block_bytes = 512;
  options.hash_seed = world_.choose(1'000);
  options.kept_copy = world_.one_of({race::KeptCopy::lowest_slot, race::KeptCopy::highest_slot});
  options.slot_order =
      world_.one_of({race::SlotOrder::main_first, race::SlotOrder::overflow_first});
  options.max_clients = 16;
  options.longest_back_off_ns = 2 * microsecond_ns;
  options.server_timeout_ns = 20 * millisecond_ns;
  options.acknowledge_timeout_ns = 100 * microsecond_ns;
  options.check_interval_ns = millisecond_ns;
  options.reconnect_pause_ns = 20 * microsecond_ns;
  for (const race::SafeguardDescription& safeguard : race::safeguard_descriptions) {
    options.safeguards.*safeguard.enabled = world_.safeguard(safeguard.name);
  }
  const bool is_published = options.safeguards == race::Safeguards::published();
  options.block_reuse = is_published ? race::BlockReuse::never : race::BlockReuse::at_once;
  return options;
}

void RaceWorld::serve(fabric::Host& host) {
  const std::unique_ptr<race::MemoryNode> node =
      scenarios::start_at_last(host, [&] { return race::MemoryNode::start(host, options_); });
  const fabric::AtEnd record([&] { node_ = node->inspect(); });
  host.create_event()->wait(fabric::never_ns);
}

// Null if the node does not start in time.
std::unique_ptr<race::Client> RaceWorld::connect(fabric::Host& host) {
  return scenarios::connect_within(
      host, options_.server_timeout_ns, options_.reconnect_pause_ns, [&] {
        return race::Client::connect(host, {.host = "server", .service = options_.service},
                                     options_);
      });
}

// Returns false if the client cannot go on.
bool RaceWorld::execute(race::Client& client, std::uint32_t number,
                        const Map::Operation& operation) {
  Answer answer = Answer::disconnected;
  const bool is_alone = working_ == 1;
  history_.call(number, operation,
                [&] { return scenarios::execute_on(client, operation, Coding(), answer); });
  world_.check(!is_alone || answer != Answer::busy, std::string(busy_property),
               "an operation waited for a split, although no other client was left to finish it");
  return answer != Answer::disconnected;
}

void RaceWorld::work(fabric::Host& host, std::uint32_t number) {
  const fabric::AtEnd leave([&] { --working_; });
  const auto client = connect(host);
  if (client == nullptr) return;
  const fabric::AtEnd count([&] { note(client->statistics()); });
  for (const Map::Operation& operation : plan_.operations(number)) {
    if (!execute(*client, number, operation)) return;
  }
  for (const std::string& key : named_keys()) {
    if (!execute(*client, number, Map::Get{key})) return;
  }
}

std::set<std::string> RaceWorld::named_keys() const {
  std::set<std::string> keys;
  for (std::uint32_t number = 0; number < plan_.clients(); ++number) {
    for (const Map::Operation& operation : plan_.operations(number)) {
      keys.insert(std::visit([](const auto& named) { return named.key; }, operation));
    }
  }
  return keys;
}

void RaceWorld::note(const race::OperationStatistics& statistics) {
  world_.check(statistics.wild_pointers == 0, std::string(pointer_property),
               "a client followed a slot that leads out of the heap");
  conditions_->reused.reached_if(statistics.reused_blocks > 0);
  conditions_->retried.reached_if(statistics.block_retries > 0);
  conditions_->lost_swap.reached_if(statistics.lost_swaps > 0);
  conditions_->duplicate.reached_if(statistics.duplicates > 0);
  conditions_->other_key.reached_if(statistics.other_keys > 0);
  conditions_->reconnected.reached_if(statistics.reconnections > 0);
  conditions_->split.reached_if(statistics.splits > 0);
  conditions_->helped.reached_if(statistics.helped_splits > 0);
  conditions_->went_elsewhere.reached_if(statistics.directory_reads > statistics.splits);
}

void RaceWorld::judge_memory() {
  if (!node_) return;
  const std::vector<std::string> problems = race::find_problems(*node_);
  if (!problems.empty()) world_.fail(std::string(memory_property), problems.front());
}

void RaceWorld::run() {
  working_ = plan_.clients();
  world_.server("server", [this](fabric::Host& host) { serve(host); });
  world_.clients(plan_.clients(),
                 [this](fabric::Host& host, std::uint32_t number) { work(host, number); });
  world_.at_rest([this] { judge_memory(); });
  world_.run();
}

}  // namespace falafel::race_scenario
