#include "tools/scenarios/pilaf/pilaf_world.h"

#include <fmt/format.h>

#include <span>
#include <utility>
#include <vector>

#include "fabric/at_end.h"
#include "fabric/time_units.h"
#include "stores/pilaf/invariants.h"
#include "tools/scenarios/map_calls.h"
#include "tools/scenarios/pilaf/contents.h"

namespace falafel::pilaf_scenario {
namespace {

using fabric::microsecond_ns;
using fabric::millisecond_ns;
using pilaf::Answer;

struct Coding {
  Values values;

  std::vector<std::byte> encode(const std::string& value) const {
    return encode_value(value, values);
  }
  std::string decode(std::span<const std::byte> bytes) const { return decode_value(bytes, values); }
};

}  // namespace

struct PilafWorld::Conditions {
  check::Condition& table_grew;
  check::Condition& extents_grew;
  check::Condition& reconnected;
  check::Condition& repeated;
  check::Condition& replayed;
  check::Condition& lost_changes;
  // Conditions of GETs by READs only.
  check::Condition* entry_retry = nullptr;
  check::Condition* extent_retry = nullptr;
  check::Condition* asked = nullptr;
};

PilafWorld::PilafWorld(check::World& world, const check::Plan<Map>& plan, pilaf::GetPath gets)
    : world_(world),
      plan_(plan),
      history_(world.history<Map>()),
      options_(draw_options(gets)),
      values_(draw_values(gets)),
      conditions_(std::make_shared<Conditions>(
          Conditions{.table_grew = world.sometimes("the table has grown"),
                     .extents_grew = world.sometimes("the extents have grown"),
                     .reconnected = world.sometimes("a client has connected again"),
                     .repeated = world.sometimes("a change was sent again"),
                     .replayed = world.sometimes("a server has restarted from its log"),
                     .lost_changes = world.sometimes("a restart has lost changes")})) {
  if (options_.log == pilaf::Logging::asynchronous) logged_history_.emplace(world);
  if (gets == pilaf::GetPath::messages) return;
  conditions_->entry_retry = &world.sometimes("the checksum of an entry was wrong");
  conditions_->extent_retry = &world.sometimes("the checksum of an extent was wrong");
  conditions_->asked = &world.sometimes("a GET has asked the server after many READs");
}

// The first value of each choice is the simplest.
pilaf::Options PilafWorld::draw_options(pilaf::GetPath gets) {
  pilaf::Options options;
  options.table_entries = world_.one_of<std::uint64_t>({4, 3, 2, 1, 8, 16});
  options.extents_bytes = world_.one_of<std::uint64_t>({1'024, 64, 128, 256, 512, 4'096});
  options.ways = world_.one_of<std::uint32_t>({3, 3, 3, 2, 1});
  options.max_kicks = world_.one_of<std::uint32_t>({500, 1, 2, 4});
  options.update = world_.one_of({pilaf::Update::out_of_place, pilaf::Update::in_place_if_it_fits});
  options.announce = world_.one_of({pilaf::Announcement::none, pilaf::Announcement::message_first});
  options.put_on_reset =
      world_.one_of({pilaf::PutOnReset::report_unknown, pilaf::PutOnReset::send_again});
  options.probe_ahead = world_.one_of<std::uint32_t>({1, 2, 3});
  options.receives = world_.one_of<std::uint32_t>({2, 1});
  options.hash_seed = world_.choose(1'000);
  options.gets = gets;
  options.largest_request_bytes = sizeof(pilaf::RequestHeader) + 8 + longest_value_bytes;
  options.max_clients = 16;
  options.retries_before_message = 8;
  options.server_timeout_ns = 20 * millisecond_ns;
  options.flush_timeout_ns = 2 * millisecond_ns;
  options.acknowledge_timeout_ns = 100 * microsecond_ns;
  options.check_interval_ns = millisecond_ns;
  options.reconnect_pause_ns = 20 * microsecond_ns;
  options.log = world_.one_of(
      {pilaf::Logging::off, pilaf::Logging::asynchronous, pilaf::Logging::synchronous});
  options.log_delay_ns = world_.one_of({microsecond_ns, 10 * microsecond_ns, 100 * microsecond_ns});
  options.log_bytes = world_.one_of<std::uint64_t>({16'384, 16'384, 16'384, 1'024});
  for (const pilaf::SafeguardDescription& safeguard : pilaf::safeguard_descriptions) {
    options.safeguards.*safeguard.enabled = world_.safeguard(safeguard.name);
  }
  return options;
}

// Only READs rely on checksums.
Values PilafWorld::draw_values(pilaf::GetPath gets) {
  if (gets == pilaf::GetPath::messages) return Values::equal_words;
  return world_.one_of({Values::equal_words, Values::equal_words, Values::colliding});
}

// As long as the server has not grown.
void PilafWorld::name_memory() {
  const std::uint64_t entries = options_.table_entries;
  for (std::uint64_t slot = 0; slot < entries; ++slot) {
    world_.name(pilaf::Geometry::entry_offset(slot), pilaf::entry_bytes,
                fmt::format("entry {}", slot));
  }
  world_.name(entries * pilaf::entry_bytes, options_.extents_bytes, "extents");
}

// The body of the host's first fiber, also after each restart. A server without a log does not
// start again, because the paper says nothing about its clients.
void PilafWorld::serve(fabric::Host& host) {
  const auto end = host.create_event();
  if (server_ && options_.log == pilaf::Logging::off) end->wait(fabric::never_ns);
  if (server_ && logged_history_) logged_history_->begin_restart();
  const std::unique_ptr<pilaf::Server> server =
      scenarios::start_at_last(host, [&] { return pilaf::Server::start(host, options_); });
  note_start(server->inspect());
  const fabric::AtEnd record([&] { server_ = server->inspect(); });
  end->wait(fabric::never_ns);
}

void PilafWorld::note_start(const pilaf::ServerInspection& server) {
  if (!server_) {
    if (logged_history_) logged_history_->start();
    return;
  }
  const pilaf::LogStatistics& before = server_->log;
  world_.check(server.log.replayed >= before.durable, std::string(log_property),
               fmt::format("the log had {} records, and the server has found {}", before.durable,
                           server.log.replayed));
  conditions_->replayed.reached_if(server.log.replayed > 0);
  conditions_->lost_changes.reached_if(server.log.replayed < before.appended);
  if (logged_history_) logged_history_->complete_restart(contents_of(server, values_));
}

// Null if the server does not start in time.
std::unique_ptr<pilaf::Client> PilafWorld::connect(fabric::Host& host) {
  return scenarios::connect_within(
      host, options_.server_timeout_ns, options_.reconnect_pause_ns, [&] {
        return pilaf::Client::connect(host, {.host = "server", .service = options_.service},
                                      options_);
      });
}

// Returns false if the client cannot go on.
bool PilafWorld::execute(pilaf::Client& client, std::uint32_t number,
                         const Map::Operation& operation) {
  Answer answer = Answer::disconnected;
  const auto execute_here = [&] {
    return scenarios::execute_on(client, operation, Coding{values_}, answer);
  };
  if (logged_history_) {
    logged_history_->call(number, operation, execute_here);
  } else {
    history_.call(number, operation, execute_here);
  }
  return answer != Answer::disconnected;
}

void PilafWorld::work(fabric::Host& host, std::uint32_t number) {
  const auto client = connect(host);
  if (client == nullptr) return;
  const fabric::AtEnd count([&] { note(client->statistics()); });
  for (const Map::Operation& operation : plan_.operations(number)) {
    if (!execute(*client, number, operation)) return;
  }
  for (const char* const key : key_names) {
    if (!execute(*client, number, Map::Get{key})) return;
  }
}

void PilafWorld::note(const pilaf::OperationStatistics& statistics) {
  world_.check(statistics.wild_pointers == 0, std::string(pointer_property),
               "a lookup followed a pointer that leads out of the extents");
  conditions_->reconnected.reached_if(statistics.reconnections > 0);
  if (conditions_->entry_retry != nullptr) {
    conditions_->entry_retry->reached_if(statistics.entry_retries > 0);
    conditions_->extent_retry->reached_if(statistics.extent_retries > 0);
    conditions_->asked->reached_if(statistics.message_gets > 0);
  }
}

void PilafWorld::judge_memory() {
  if (!server_) return;
  conditions_->table_grew.reached_if(server_->statistics.table_growths > 0);
  conditions_->extents_grew.reached_if(server_->statistics.extents_growths > 0);
  conditions_->repeated.reached_if(server_->statistics.requests_repeated > 0);
  if (server_->is_busy) return;  // it was stopped in the middle of a change
  const std::vector<std::string> problems = pilaf::find_problems(*server_);
  if (!problems.empty()) world_.fail(std::string(memory_property), problems.front());
}

void PilafWorld::run() {
  name_memory();
  world_.server("server", [this](fabric::Host& host) { serve(host); });
  world_.clients(plan_.clients(),
                 [this](fabric::Host& host, std::uint32_t number) { work(host, number); });
  world_.at_rest([this] { judge_memory(); });
  world_.run();
}

}  // namespace falafel::pilaf_scenario
