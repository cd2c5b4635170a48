#include "tools/scenarios/c_hint/c_hint_world.h"

#include <algorithm>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "fabric/at_end.h"
#include "fabric/text.h"
#include "fabric/time_units.h"
#include "stores/c_hint/invariants.h"
#include "stores/c_hint/layout.h"
#include "tools/scenarios/colliding_values.h"
#include "tools/scenarios/map_calls.h"

namespace falafel::c_hint_scenario {
namespace {

using c_hint::Answer;
using fabric::bytes_of;
using fabric::microsecond_ns;
using fabric::millisecond_ns;
using fabric::text_of;

// In front of the pairs of words of an adversary's values, so that they begin at a word behind a
// key of one byte.
constexpr std::size_t margin_bytes = 7;

// An adversary stores pairs of words in place of each word. A mixture needs two.
constexpr std::size_t pairs = 2;

std::vector<std::byte> encode_value(const std::string& value, Values values) {
  const std::span<const std::byte> bytes = bytes_of(value);
  if (values == Values::equal_words) return {bytes.begin(), bytes.end()};
  return scenarios::colliding_value(bytes, pairs, margin_bytes);
}

std::string decode_value(std::span<const std::byte> bytes, Values values) {
  if (values == Values::equal_words) return text_of(bytes);
  if (bytes.size() <= margin_bytes + fabric::word_bytes) return "too few bytes";
  std::string value = text_of(bytes.subspan(margin_bytes, fabric::word_bytes));
  return std::ranges::equal(encode_value(value, values), bytes) ? value : "a mixture";
}

// An adversary concentrates on one key, and on short values, which tear in fewer ways.
Map::Operation operation_with(const Map::Operation& planned, Values values) {
  if (values == Values::equal_words) return planned;
  Map::Operation operation = planned;
  std::visit([](auto& any) { any.key = key_names.front(); }, operation);
  auto* const set = std::get_if<Map::Set>(&operation);
  if (set != nullptr) set->value.resize(fabric::word_bytes);
  return operation;
}

struct Coding {
  Values values;

  std::vector<std::byte> encode(const std::string& value) const {
    return encode_value(value, values);
  }
  std::string decode(std::span<const std::byte> bytes) const { return decode_value(bytes, values); }
};

// A client whose SETs have this time to live.
struct ClientWithLife {
  c_hint::Client& client;
  std::uint64_t life_ns = 0;

  c_hint::GetResult get(std::span<const std::byte> key) { return client.get(key); }
  c_hint::Result set(std::span<const std::byte> key, std::span<const std::byte> value) {
    return client.set(key, value, life_ns);
  }
  c_hint::Result remove(std::span<const std::byte> key) { return client.remove(key); }
};

}  // namespace

struct CHintWorld::Conditions {
  check::Condition& pointer_hit;
  check::Condition& expired_pointer;
  check::Condition& changed_item;
  check::Condition& late_read;
  check::Condition& renewed;
  check::Condition& lost_report;
  check::Condition& reconnected;
  check::Condition& evicted;
  check::Condition& refused;
  check::Condition& changed_in_place;
  check::Condition& expired;
  check::Condition& shared_pointer;
  check::Condition& concurrent_shards;
};

CHintWorld::CHintWorld(check::World& world, const check::Plan<Map>& plan)
    : world_(world),
      plan_(plan),
      options_(draw_options()),
      pause_ns_(world.one_of<std::uint64_t>({0, 2, 10, 50}) * microsecond_ns),
      conditions_(std::make_shared<Conditions>(Conditions{
          .pointer_hit = world.sometimes("a READ has given a value"),
          .expired_pointer = world.sometimes("a lease had ended before a READ"),
          .changed_item = world.sometimes("an item had changed when it was read"),
          .late_read = world.sometimes("a lease ended during a READ"),
          .renewed = world.sometimes("a report has renewed a lease"),
          .lost_report = world.sometimes("a report was lost"),
          .reconnected = world.sometimes("a client has connected again"),
          .evicted = world.sometimes("an item was evicted"),
          .refused = world.sometimes("no item could be evicted"),
          .changed_in_place = world.sometimes("an item was changed in place"),
          .expired = world.sometimes("the life of an item had ended"),
          .shared_pointer =
              world.sometimes("a client has used a pointer that another one of its host got"),
          .concurrent_shards = world.sometimes("two shards were busy at once")})) {
  const bool has_backend = world.choose(4) != 3;
  const std::uint64_t latency_ns = world.one_of<std::uint64_t>({0, 1, 10}) * microsecond_ns;
  if (has_backend) backend_.emplace(latency_ns);
  lives_.emplace(world.one_of<std::uint64_t>({0, 0, 0, 0, 0, 30, 100, 300}) * microsecond_ns);
  if (world.choose(4) == 3) clients_per_host_ = 2;
  options_.report_counts = clients_per_host_ == 2 && world.choose(2) == 1;
  draw_shards();
  if (has_backend && !lives_->have_ends()) {
    map_history_ = &world.history<Map>();
  } else {
    cache_history_ = &world.history<Cache>();
  }
}

// The first value of each choice is the simplest.
c_hint::Options CHintWorld::draw_options() {
  c_hint::Options options;
  options.items_bytes = world_.one_of<std::uint64_t>({256, 512, 128});
  options.update =
      world_.one_of({c_hint::Update::out_of_place, c_hint::Update::in_place_if_it_fits});
  options.verification =
      world_.one_of({c_hint::Verification::versions, c_hint::Verification::versions,
                     c_hint::Verification::checksum});
  draw_leases(options);
  draw_policies(options);
  values_ = world_.one_of({Values::equal_words, Values::equal_words, Values::colliding});
  // Other items do not change while a lease runs, so no checksum protects them.
  if (values_ == Values::colliding) options.update = c_hint::Update::in_place_if_it_fits;
  options.largest_message_bytes = 256;
  options.container_bytes = 128;
  options.max_clients = 16;
  options.server_timeout_ns = 20 * millisecond_ns;
  options.acknowledge_timeout_ns = 100 * microsecond_ns;
  options.check_interval_ns = millisecond_ns;
  options.reconnect_pause_ns = 20 * microsecond_ns;
  for (const c_hint::SafeguardDescription& safeguard : c_hint::safeguard_descriptions) {
    options.safeguards.*safeguard.enabled = world_.safeguard(safeguard.name);
  }
  return options;
}

void CHintWorld::draw_leases(c_hint::Options& options) {
  using c_hint::LeaseKind;
  options.lease =
      world_.one_of({LeaseKind::by_popularity, LeaseKind::fixed, LeaseKind::by_popularity,
                     LeaseKind::by_popularity, LeaseKind::endless});
  options.lease_in_reply =
      world_.one_of({c_hint::LeaseForm::term, c_hint::LeaseForm::absolute_end});
  const std::uint64_t unit_ns = world_.one_of<std::uint64_t>({20, 5, 100, 200}) * microsecond_ns;
  options.unit_of_empty_memory_ns = unit_ns;
  options.unit_of_full_memory_ns = world_.one_of({unit_ns, unit_ns / 16, unit_ns / 64});
  options.fixed_term_ns = unit_ns;
  options.clock_error_ns = world_.one_of<std::uint64_t>({0, 30}) * microsecond_ns;
  options.report_interval_ns = world_.one_of<std::uint64_t>({0, 5, 50}) * microsecond_ns;
  options.report =
      world_.one_of({c_hint::ReportPath::write_and_notify, c_hint::ReportPath::message});
}

void CHintWorld::draw_policies(c_hint::Options& options) {
  using c_hint::ReplacementKind;
  options.replacement = world_.one_of(
      {ReplacementKind::popularity_queues, ReplacementKind::lru, ReplacementKind::multi_queue});
  options.queues = world_.one_of<std::uint32_t>({4, 1});
  options.probes = world_.one_of<std::uint32_t>({3, 0});
  options.aging = world_.one_of({c_hint::Aging::keeps_count, c_hint::Aging::halves_count});
  options.life_time = 4;
  options.ghosts = 4;
  options.pointers = world_.one_of<std::uint64_t>({8, 1, 2});
  options.picks_per_list = world_.one_of<std::uint32_t>({2, 1});
  options.least_contiguous_percent = world_.one_of<std::uint32_t>({0, 0, 0, 60});
  options.gets = world_.choose(8) == 7 ? c_hint::GetPath::messages : c_hint::GetPath::reads;
}

// Otherwise, one shard takes the messages itself.
void CHintWorld::draw_shards() {
  if (world_.choose(4) != 3) return;
  options_.shards = world_.one_of<std::uint32_t>({2, 1});
  options_.communication_threads = world_.one_of<std::uint32_t>({1, 2});
}

// Hosts

void CHintWorld::set_clock(fabric::Host& host) {
  const std::uint64_t range_ns = options_.clock_error_ns;
  const auto error_ns = static_cast<std::int64_t>(host.random(range_ns + 1));
  world_.simulation().set_wall_clock(host.name(),
                                     error_ns - static_cast<std::int64_t>(range_ns / 2));
}

void CHintWorld::serve(fabric::Host& host) {
  set_clock(host);
  std::unique_ptr<c_hint::Server> server;
  const fabric::AtEnd record([&] {
    running_ = nullptr;
    if (server != nullptr) server_ = server->inspect();
  });
  server = scenarios::start_at_last(
      host, [&] { return c_hint::Server::start(host, options_, backend_ ? &*backend_ : nullptr); });
  running_ = server.get();
  ++starts_;
  host.create_event()->wait(fabric::never_ns);
}

// Null if the server does not start in time.
std::unique_ptr<c_hint::Client> CHintWorld::connect(
    fabric::Host& host, const std::shared_ptr<c_hint::NodeCache>& node) {
  return scenarios::connect_within(
      host, options_.server_timeout_ns, options_.reconnect_pause_ns, [&] {
        return c_hint::Client::connect(host, {.host = "server", .service = options_.service},
                                       options_, node);
      });
}

// Returns false if the client cannot go on.
bool CHintWorld::execute(fabric::Host& host, c_hint::Client& client, std::uint32_t number,
                         const Map::Operation& planned) {
  const Map::Operation operation = operation_with(planned, values_);
  Answer answer = Answer::disconnected;
  const auto call = [&] {
    std::optional<std::uint64_t> read_at;
    const std::uint64_t begin_ns = host.now_ns();
    ClientWithLife client_with_life{client, lives_->life_ns_of(operation)};
    lives_->call(operation);
    auto result =
        scenarios::execute_on(client_with_life, operation, Coding{values_}, answer,
                              [&](const c_hint::GetResult& get) { read_at = get.read_at; });
    if (result) lives_->carried_out(operation, host.now_ns());
    const auto* const get = std::get_if<Map::Get>(&operation);
    if (read_at) judge_acceptance(get->key, *read_at);
    if (clients_per_host_ > 1) note_read(number, operation, read_at.has_value());
    if (get != nullptr && result && result->value) judge_life(get->key, *result->value, begin_ns);
    return result;
  };
  if (map_history_ != nullptr) {
    map_history_->call(number, operation, call);
  } else {
    cache_history_->call(number, operation, call);
  }
  judge_leases(client);
  return answer != Answer::disconnected;
}

// The clients of a host end together.
void CHintWorld::work_on(fabric::Host& host, std::uint32_t number) {
  set_clock(host);
  if (clients_per_host_ == 1) return work(host, number, nullptr);
  const auto node = std::make_shared<c_hint::NodeCache>(options_);
  std::vector<fabric::FiberId> fibers;
  const std::uint32_t first = number * clients_per_host_;
  const std::uint32_t end = std::min(first + clients_per_host_, plan_.clients());
  for (std::uint32_t client = first; client < end; ++client) {
    fibers.push_back(host.spawn({.name = "client " + std::to_string(client)},
                                [this, &host, client, node] { work(host, client, node); }));
  }
  for (const fabric::FiberId fiber : fibers) host.join(fiber);
}

void CHintWorld::work(fabric::Host& host, std::uint32_t number,
                      const std::shared_ptr<c_hint::NodeCache>& node) {
  const auto client = connect(host, node);
  if (client == nullptr) return;
  const fabric::AtEnd count([&] { note(client->statistics()); });
  for (const Map::Operation& operation : plan_.operations(number)) {
    if (!execute(host, *client, number, operation)) return;
    if (pause_ns_ > 0) host.sleep_until(host.now_ns() + host.random(pause_ns_));
  }
  for (const char* const key : key_names) {
    if (!execute(host, *client, number, Map::Get{key})) return;
  }
}

// Judgement

// The pact ends with the server.
bool CHintWorld::keeps_pact(std::uint64_t hash, std::uint64_t offset) const {
  if (running_ == nullptr || starts_ > 1) return true;
  const c_hint::Directory& directory = running_->directory_of(hash);
  const c_hint::Descriptor* const descriptor = directory.find(hash);
  return (descriptor != nullptr && descriptor->offset == offset) ||
         std::ranges::any_of(directory.waiting(),
                             [&](const auto& block) { return block.second == offset; });
}

// Called when the client has accepted the item, before anything else happens.
void CHintWorld::judge_acceptance(const std::string& key, std::uint64_t offset) {
  world_.check(keeps_pact(c_hint::hash_of_key(bytes_of(key)), offset), std::string(pact_property),
               "a client accepted what it read at offset " + std::to_string(offset) +
                   " after the server had reclaimed that memory");
}

void CHintWorld::judge_life(const std::string& key, const std::string& value,
                            std::uint64_t begin_ns) {
  const std::optional<std::uint64_t> end_ns = lives_->end_of(key, value);
  if (!end_ns || begin_ns <= *end_ns + options_.clock_error_ns) return;
  world_.fail(std::string(expiry_property),
              "a GET of \"" + key + "\" that began " + std::to_string(begin_ns - *end_ns) +
                  " ns after the end of its life returned \"" + value + "\"");
}

// A client that READs a key before any other operation on it uses a pointer of another client.
void CHintWorld::note_read(std::uint32_t number, const Map::Operation& operation,
                           bool is_by_pointer) {
  const std::string key = Map::partition(operation);
  conditions_->shared_pointer.reached_if(is_by_pointer && !used_keys_.contains({number, key}));
  used_keys_.emplace(number, key);
}

// Judges the promises that the client would rely on now, whether or not it does.
void CHintWorld::judge_leases(c_hint::Client& client) {
  for (const auto& [hash, pointer] : client.leased_pointers()) {
    world_.check(keeps_pact(hash, pointer.offset), std::string(pact_property),
                 "the server has reclaimed the memory at offset " + std::to_string(pointer.offset) +
                     " while a lease of it runs");
  }
}

void CHintWorld::note(const c_hint::OperationStatistics& statistics) {
  conditions_->pointer_hit.reached_if(statistics.pointer_hits > 0);
  conditions_->expired_pointer.reached_if(statistics.expired_pointers > 0);
  conditions_->changed_item.reached_if(statistics.changed_items > 0);
  conditions_->late_read.reached_if(statistics.late_reads > 0);
  conditions_->renewed.reached_if(statistics.renewed_leases > 0);
  conditions_->lost_report.reached_if(statistics.lost_reports > 0);
  conditions_->reconnected.reached_if(statistics.reconnections > 0);
}

void CHintWorld::judge_memory() {
  if (!server_) return;
  const c_hint::ServerStatistics& statistics = server_->statistics;
  conditions_->evicted.reached_if(statistics.directory.evictions > 0);
  conditions_->refused.reached_if(statistics.directory.refusals > 0);
  conditions_->changed_in_place.reached_if(statistics.shard.in_place_updates > 0);
  conditions_->expired.reached_if(statistics.shard.expirations > 0);
  conditions_->concurrent_shards.reached_if(statistics.concurrent_requests > 0);
  if (server_->is_busy) return;  // it was stopped in the middle of a change
  const std::vector<std::string> problems = c_hint::find_problems(*server_);
  if (!problems.empty()) world_.fail(std::string(memory_property), problems.front());
}

void CHintWorld::run() {
  world_.name(0, options_.items_bytes, "items");
  world_.server("server", [this](fabric::Host& host) { serve(host); });
  const std::uint32_t hosts = (plan_.clients() + clients_per_host_ - 1) / clients_per_host_;
  world_.clients(hosts,
                 [this](fabric::Host& host, std::uint32_t number) { work_on(host, number); });
  world_.at_rest([this] { judge_memory(); });
  world_.run();
}

}  // namespace falafel::c_hint_scenario
