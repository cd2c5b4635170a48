#include "tools/scenarios/store/scenario.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "engine/layout/entry.h"
#include "engine/layout/pinned.h"

namespace falafel::store_scenario {
namespace {

constexpr std::array kind_names{"get", "set", "delete", "scan", "update", "wait_for_end"};
constexpr std::array<std::string_view, attack_kind_count> attack_names{
    "odd_length",      "unknown_kind",     "foreign_release", "repeated_release",
    "future_epoch",    "repeated_request", "flood",           "greed",
    "flag_entry",      "empty_entry",      "flip_entry",      "point_entry",
    "lying_container", "evasion",          "stolen_release",  "late_write",
    "broken_chain",    "shared_container", "all_credits"};

// Limits for values in files, so that a run neither takes hours nor all memory.
constexpr std::uint64_t most_clients = 64;
constexpr std::uint64_t most_fibers = 64;
constexpr std::uint64_t most_in_batch = 64;
constexpr std::uint64_t most_operations = 100'000;
constexpr std::uint64_t most_cleanups = 1'000;
constexpr std::uint64_t most_attacks = 1'000;
constexpr std::uint64_t longest_ns = std::uint64_t{1} << 50;
constexpr std::uint64_t largest_chunk_bytes = std::uint64_t{1} << 28;

// Reads members of an object; remembers the first invalid one.
class Reader {
 public:
  Reader(const nlohmann::json& json, std::string path) : json_(json), path_(std::move(path)) {}

  // Members that older files lack; the value then keeps its default.
  template <typename Number>
  void later_number(const char* name, Number& value, std::uint64_t least, std::uint64_t most) {
    if (has(name)) number(name, value, least, most);
  }
  void later_boolean(const char* name, bool& value) {
    if (has(name)) boolean(name, value);
  }

  template <typename Number>
  void number(const char* name, Number& value, std::uint64_t least, std::uint64_t most) {
    const auto found = member(name);
    if (!found) return;
    if (!found->is_number_unsigned() || found->template get<std::uint64_t>() < least ||
        found->template get<std::uint64_t>() > most) {
      return fail(name, fmt::format("is not a number from {} to {}", least, most));
    }
    value = static_cast<Number>(found->template get<std::uint64_t>());
  }

  void boolean(const char* name, bool& value) {
    const auto found = member(name);
    if (!found) return;
    if (!found->is_boolean()) return fail(name, "is not a boolean");
    value = found->get<bool>();
  }

  const nlohmann::json* array(const char* name, std::uint64_t most) {
    const auto found = member(name);
    if (!found) return nullptr;
    if (!found->is_array() || found->size() > most) {
      fail(name, fmt::format("is not an array of at most {} elements", most));
      return nullptr;
    }
    return found;
  }

  bool has(const char* name) const { return json_.is_object() && json_.contains(name); }

  const nlohmann::json* member(const char* name) {
    if (!json_.is_object() || !json_.contains(name)) {
      fail(name, "is missing");
      return nullptr;
    }
    return &json_.at(name);
  }

  void fail(const char* name, const std::string& what) {
    if (problem_.empty()) problem_ = fmt::format("{}{} {}", path_, name, what);
  }
  void adopt(const Reader& inner) {
    if (problem_.empty()) problem_ = inner.problem_;
  }
  const std::string& problem() const { return problem_; }

 private:
  const nlohmann::json& json_;
  std::string path_;
  std::string problem_;
};

nlohmann::json operation_to_json(const PlannedOperation& operation) {
  nlohmann::json json = {
      {"kind", to_string(operation.kind)},    {"key", operation.key},
      {"value_bytes", operation.value_bytes}, {"pause_ns", operation.pause_ns},
      {"goodbye", operation.goodbye},         {"cancel_after_ns", operation.cancel_after_ns}};
  if (operation.pins()) {
    json["pins"] = true;
  } else if (operation.time_to_live_ns > 0) {
    json["time_to_live_ns"] = operation.time_to_live_ns;
  }
  return json;
}

std::string to_text(const engine::HashKey& hash_key) {
  std::string text;
  for (const std::byte byte : hash_key) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

void read_hash_key(Reader& reader, engine::HashKey& hash_key) {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto* member = reader.member("hash_key");
  const std::string text = member->is_string() ? member->get<std::string>() : "";
  if (text.size() != 2 * hash_key.size() || text.find_first_not_of(digits) != std::string::npos) {
    return reader.fail("hash_key", "is not 32 hexadecimal digits");
  }
  for (std::size_t index = 0; index < hash_key.size(); ++index) {
    hash_key[index] = static_cast<std::byte>(digits.find(text[2 * index]) << 4 |
                                             digits.find(text[2 * index + 1]));
  }
}

PlannedOperation read_operation(Reader& reader, std::uint64_t most_value_bytes) {
  PlannedOperation operation;
  if (const auto* kind = reader.member("kind")) {
    const auto found = std::find(kind_names.begin(), kind_names.end(),
                                 kind->is_string() ? kind->get<std::string>() : "");
    if (found == kind_names.end()) reader.fail("kind", "is not get, set, delete, scan or update");
    operation.kind = static_cast<OperationKind>(found - kind_names.begin());
  }
  reader.number("key", operation.key, 0, 1'000'000);
  reader.number("value_bytes", operation.value_bytes, 0, most_value_bytes);
  reader.number("pause_ns", operation.pause_ns, 0, longest_ns);
  reader.later_boolean("goodbye", operation.goodbye);
  reader.later_number("cancel_after_ns", operation.cancel_after_ns, 0, longest_ns);
  reader.later_number("time_to_live_ns", operation.time_to_live_ns, 0, longest_ns);
  bool pins = false;
  reader.later_boolean("pins", pins);
  if (pins) operation.time_to_live_ns = engine::pinned_time_to_live_ns;
  return operation;
}

PlannedCleanup read_cleanup(Reader& reader) {
  PlannedCleanup cleanup;
  reader.number("pause_ns", cleanup.pause_ns, 0, longest_ns);
  reader.number("cancel_after_ns", cleanup.cancel_after_ns, 0, longest_ns);
  return cleanup;
}

PreparedOperation read_prepared(Reader& reader) {
  PreparedOperation prepared;
  reader.number("client", prepared.client, 0, most_clients);
  reader.number("at_ns", prepared.at_ns, 0, longest_ns);
  prepared.operation = read_operation(reader, largest_chunk_bytes);
  return prepared;
}

PlannedPause read_pause(Reader& reader) {
  PlannedPause pause;
  reader.number("client", pause.client, 0, most_clients - 1);
  reader.number("at_ns", pause.at_ns, 0, longest_ns);
  reader.number("duration_ns", pause.duration_ns, 1, longest_ns);
  return pause;
}

// Older files have no pauses.
void read_pauses(Reader& reader, std::vector<PlannedPause>& pauses) {
  const auto* members = reader.has("pauses") ? reader.array("pauses", most_clients) : nullptr;
  for (std::size_t index = 0; members != nullptr && index < members->size(); ++index) {
    Reader inner((*members)[index], fmt::format("scenario_options.stage.pauses[{}].", index));
    pauses.push_back(read_pause(inner));
    reader.adopt(inner);
  }
}

Stage read_stage(Reader& reader) {
  Stage stage;
  reader.number("begin_ns", stage.begin_ns, 0, longest_ns);
  reader.number("end_ns", stage.end_ns, 0, longest_ns);
  reader.number("server_pauses_at_ns", stage.server_pauses_at_ns, 0, longest_ns);
  const auto* prepared = reader.array("prepared", most_operations);
  for (std::size_t index = 0; prepared != nullptr && index < prepared->size(); ++index) {
    Reader inner((*prepared)[index], fmt::format("scenario_options.stage.prepared[{}].", index));
    stage.prepared.push_back(read_prepared(inner));
    reader.adopt(inner);
  }
  read_pauses(reader, stage.pauses);
  return stage;
}

ClientPlan read_client(Reader& reader, const std::string& path) {
  ClientPlan client;
  reader.number("fibers", client.fibers, 1, most_fibers);
  reader.later_number("batch", client.batch, 1, most_in_batch);
  reader.later_boolean("sets_many", client.sets_many);
  const auto* operations = reader.array("operations", most_operations);
  for (std::size_t index = 0; operations != nullptr && index < operations->size(); ++index) {
    Reader inner((*operations)[index], fmt::format("{}operations[{}].", path, index));
    client.operations.push_back(read_operation(inner, largest_chunk_bytes));
    reader.adopt(inner);
  }
  return client;
}

void read_cleanups(Reader& reader, std::vector<PlannedCleanup>& cleanups) {
  const auto* members = reader.array("cleanups", most_cleanups);
  for (std::size_t index = 0; members != nullptr && index < members->size(); ++index) {
    Reader inner((*members)[index], fmt::format("scenario_options.cleanups[{}].", index));
    cleanups.push_back(read_cleanup(inner));
    reader.adopt(inner);
  }
}

PlannedAttack read_attack(Reader& reader) {
  PlannedAttack attack;
  if (const auto* kind = reader.member("kind")) {
    const auto found = std::find(attack_names.begin(), attack_names.end(),
                                 kind->is_string() ? kind->get<std::string>() : "");
    if (found == attack_names.end()) reader.fail("kind", "is no kind of attack");
    attack.kind = static_cast<AttackKind>(found - attack_names.begin());
  }
  reader.number("slot", attack.slot, 0, largest_chunk_bytes);
  reader.number("number", attack.number, 0, ~std::uint64_t{0});
  reader.number("pause_ns", attack.pause_ns, 0, longest_ns);
  return attack;
}

void read_attacks(Reader& reader, std::vector<PlannedAttack>& attacks) {
  const auto* members = reader.array("attacks", most_attacks);
  for (std::size_t index = 0; members != nullptr && index < members->size(); ++index) {
    Reader inner((*members)[index], fmt::format("scenario_options.attacks[{}].", index));
    attacks.push_back(read_attack(inner));
    reader.adopt(inner);
  }
}

void read_geometry(Reader& reader, engine::Geometry& geometry) {
  reader.number("unit_bytes", geometry.unit_bytes, 8, 64);
  reader.number("table_entries", geometry.table_entries, 1, largest_chunk_bytes / 8);
  reader.number("region_bytes", geometry.region_bytes, 1, largest_chunk_bytes);
  reader.number("region_count", geometry.region_count, 1, 65'536);
  reader.number("mature_bytes", geometry.mature_bytes, 1, largest_chunk_bytes);
  reader.later_number("mature_space_count", geometry.mature_space_count, engine::semi_space_count,
                      largest_chunk_bytes / engine::alignment_bytes);
  reader.later_number("tag_bits", geometry.tag_bits, 1, engine::most_tag_bits);
  reader.later_number("fingerprint_bits", geometry.fingerprint_bits, 0,
                      engine::most_fingerprint_bits);
  reader.later_number("size_class_bits", geometry.size_class_bits, 0, engine::most_size_class_bits);
  reader.later_boolean("values_expire", geometry.values_expire);
  reader.later_number("most_tables", geometry.most_tables, 1, engine::most_tables_of_a_store);
  if (!reader.problem().empty()) return;
  if (const auto problem = engine::find_invalid_geometry(geometry)) {
    reader.fail("geometry:", *problem);
  } else if (geometry.chunk_bytes() > largest_chunk_bytes) {
    reader.fail("geometry:", fmt::format("the chunk has more than {} bytes", largest_chunk_bytes));
  }
}

// Files without this member are older than the choice.
engine::Collection read_collection(Reader& reader) {
  if (!reader.has("collection")) return engine::Collection::walk_table;
  const auto* name = reader.member("collection");
  for (const auto collection : {engine::Collection::scan_memory, engine::Collection::walk_table}) {
    if (name->is_string() && name->get<std::string>() == to_string(collection)) return collection;
  }
  reader.fail("collection", "is not scan_memory or walk_table");
  return engine::Collection::walk_table;
}

// Reads a boolean that older files lack.
void read_newer_boolean(Reader& reader, const char* name, bool& value) {
  value = false;
  if (reader.has(name)) reader.boolean(name, value);
}

}  // namespace

std::string_view to_string(OperationKind kind) {
  return kind_names[static_cast<std::size_t>(kind)];
}

std::string_view to_string(AttackKind kind) { return attack_names[static_cast<std::size_t>(kind)]; }

std::uint64_t Scenario::operation_count() const {
  std::uint64_t count = 0;
  for (const ClientPlan& client : clients) count += client.operations.size();
  return count;
}

static nlohmann::json stage_to_json(const Stage& stage) {
  nlohmann::json prepared = nlohmann::json::array();
  for (const PreparedOperation& operation : stage.prepared) {
    nlohmann::json json = operation_to_json(operation.operation);
    json["client"] = operation.client;
    json["at_ns"] = operation.at_ns;
    prepared.push_back(std::move(json));
  }
  nlohmann::json json = {{"begin_ns", stage.begin_ns},
                         {"end_ns", stage.end_ns},
                         {"server_pauses_at_ns", stage.server_pauses_at_ns},
                         {"prepared", std::move(prepared)}};
  for (const PlannedPause& pause : stage.pauses) {
    json["pauses"].push_back(
        {{"client", pause.client}, {"at_ns", pause.at_ns}, {"duration_ns", pause.duration_ns}});
  }
  return json;
}

static nlohmann::json scenario_to_json(const Scenario& scenario) {
  nlohmann::json safeguards = nlohmann::json::object();
  for (const auto& safeguard : engine::safeguard_descriptions) {
    safeguards[std::string(safeguard.name)] = scenario.safeguards.*safeguard.enabled;
  }
  nlohmann::json clients = nlohmann::json::array();
  for (const ClientPlan& client : scenario.clients) {
    nlohmann::json operations = nlohmann::json::array();
    for (const PlannedOperation& operation : client.operations) {
      operations.push_back(operation_to_json(operation));
    }
    nlohmann::json plan = {{"fibers", client.fibers}, {"operations", std::move(operations)}};
    if (client.batch > 1) plan["batch"] = client.batch;
    if (client.sets_many) plan["sets_many"] = true;
    clients.push_back(std::move(plan));
  }
  nlohmann::json cleanups = nlohmann::json::array();
  for (const PlannedCleanup& cleanup : scenario.cleanups) {
    cleanups.push_back(
        {{"pause_ns", cleanup.pause_ns}, {"cancel_after_ns", cleanup.cancel_after_ns}});
  }
  nlohmann::json attacks = nlohmann::json::array();
  for (const PlannedAttack& attack : scenario.attacks) {
    attacks.push_back({{"kind", to_string(attack.kind)},
                       {"slot", attack.slot},
                       {"number", attack.number},
                       {"pause_ns", attack.pause_ns}});
  }
  const engine::Geometry& geometry = scenario.geometry;
  nlohmann::json json = {{"safeguards", std::move(safeguards)},
                         {"geometry",
                          {{"unit_bytes", geometry.unit_bytes},
                           {"table_entries", geometry.table_entries},
                           {"region_bytes", geometry.region_bytes},
                           {"region_count", geometry.region_count},
                           {"mature_bytes", geometry.mature_bytes},
                           {"mature_space_count", geometry.mature_space_count},
                           {"tag_bits", geometry.tag_bits},
                           {"fingerprint_bits", geometry.fingerprint_bits},
                           {"size_class_bits", geometry.size_class_bits}}},
                         {"hash_key", to_text(scenario.hash_key)},
                         {"max_clients", scenario.max_clients},
                         {"heartbeat_timeout_ns", scenario.heartbeat_timeout_ns},
                         {"flush_timeout_ns", scenario.flush_timeout_ns},
                         {"destruction_drains", scenario.destruction_drains},
                         {"server_timeout_ns", scenario.server_timeout_ns},
                         {"cleanup_percent", scenario.cleanup_percent},
                         {"cleanup_interval_ns", scenario.cleanup_interval_ns},
                         {"pipelined_updates", scenario.pipelined_updates},
                         {"collection", to_string(scenario.collection)},
                         {"asks_for_regions_back", scenario.asks_for_regions_back},
                         {"keeps_overwrite_reserve", scenario.keeps_overwrite_reserve},
                         {"readahead",
                          {{"chunk_entries", scenario.readahead.chunk_entries},
                           {"container_bytes", scenario.readahead.container_bytes},
                           {"containers", scenario.readahead.containers},
                           {"adaptive", scenario.readahead.adaptive},
                           {"validation", scenario.readahead.validation}}},
                         {"location_cache",
                          {{"entries", scenario.location_cache.entries},
                           {"trust_ns", scenario.location_cache.trust_ns}}},
                         {"renewal_percent", scenario.renewal_percent},
                         {"cleanups", std::move(cleanups)},
                         {"attacks", std::move(attacks)},
                         {"clients", std::move(clients)}};
  if (scenario.stage) json["stage"] = stage_to_json(*scenario.stage);
  if (geometry.values_expire) json["geometry"]["values_expire"] = true;
  if (geometry.can_grow()) json["geometry"]["most_tables"] = geometry.most_tables;
  if (scenario.evicts) json["evicts"] = true;
  if (scenario.keeps_memory) json["keeps_memory"] = true;
  if (scenario.memory_grows) json["memory_grows"] = true;
  if (scenario.clients_hear_close) json["clients_hear_close"] = true;
  if (scenario.least_held_bytes > 0) json["least_held_bytes"] = scenario.least_held_bytes;
  if (scenario.keyless_entries > 0) json["keyless_entries"] = scenario.keyless_entries;
  if (scenario.wall_clock_error_ns > 0) json["wall_clock_error_ns"] = scenario.wall_clock_error_ns;
  return json;
}

nlohmann::json Scenario::to_json() const { return scenario_to_json(*this); }

tl::expected<Scenario, std::string> parse_scenario(const nlohmann::json& json) {
  Scenario scenario;
  Reader reader(json, "scenario_options.");
  if (const auto* member = reader.member("safeguards")) {
    if (!member->is_object()) reader.fail("safeguards", "is no object");
    Reader inner(*member, "scenario_options.safeguards.");
    for (const auto& safeguard : engine::safeguard_descriptions) {
      const std::string name(safeguard.name);
      if (!inner.has(name.c_str())) continue;  // older than the safeguard, which is on
      inner.boolean(name.c_str(), scenario.safeguards.*safeguard.enabled);
    }
    reader.adopt(inner);
  }
  if (const auto* member = reader.member("geometry")) {
    Reader inner(*member, "scenario_options.geometry.");
    read_geometry(inner, scenario.geometry);
    reader.adopt(inner);
  }
  if (reader.has("hash_key")) read_hash_key(reader, scenario.hash_key);
  reader.later_number("max_clients", scenario.max_clients, 0, 65'535);
  reader.number("heartbeat_timeout_ns", scenario.heartbeat_timeout_ns, 1'000, longest_ns);
  reader.later_number("flush_timeout_ns", scenario.flush_timeout_ns, 1, longest_ns);
  reader.later_boolean("destruction_drains", scenario.destruction_drains);
  reader.later_number("server_timeout_ns", scenario.server_timeout_ns, 1, longest_ns);
  reader.number("cleanup_percent", scenario.cleanup_percent, 0, 100);
  reader.number("cleanup_interval_ns", scenario.cleanup_interval_ns, 1, longest_ns);
  reader.number("pipelined_updates", scenario.pipelined_updates, 1, 64);
  scenario.collection = read_collection(reader);
  read_newer_boolean(reader, "asks_for_regions_back", scenario.asks_for_regions_back);
  read_newer_boolean(reader, "keeps_overwrite_reserve", scenario.keeps_overwrite_reserve);
  if (const auto* member = reader.member("readahead")) {
    Reader inner(*member, "scenario_options.readahead.");
    inner.number("chunk_entries", scenario.readahead.chunk_entries, 1, 65'536);
    inner.number("container_bytes", scenario.readahead.container_bytes, 24, 1U << 20);
    inner.number("containers", scenario.readahead.containers, 1, 8);
    inner.boolean("adaptive", scenario.readahead.adaptive);
    inner.later_boolean("validation", scenario.readahead.validation);
    reader.adopt(inner);
  }
  if (reader.has("location_cache")) {  // older files have none
    Reader inner(*reader.member("location_cache"), "scenario_options.location_cache.");
    inner.number("entries", scenario.location_cache.entries, 0, 65'536);
    inner.number("trust_ns", scenario.location_cache.trust_ns, 1, longest_ns);
    reader.adopt(inner);
  }
  reader.number("renewal_percent", scenario.renewal_percent, 1, 100);
  reader.later_boolean("evicts", scenario.evicts);
  if (scenario.evicts && !scenario.geometry.values_expire) {
    reader.fail("evicts", "is true, but geometry.values_expire is not");
  }
  reader.later_boolean("keeps_memory", scenario.keeps_memory);
  if (scenario.keeps_memory && !scenario.safeguards.bounded_walks) {
    reader.fail("keeps_memory", "is true, but safeguards.bounded-walks is not");
  }
  reader.later_boolean("clients_hear_close", scenario.clients_hear_close);
  reader.later_boolean("memory_grows", scenario.memory_grows);
  if (scenario.memory_grows && !scenario.geometry.has_blocks()) {
    reader.fail("memory_grows", "is true, but geometry.mature_space_count is that of semi-spaces");
  }
  reader.later_number("least_held_bytes", scenario.least_held_bytes, 0, largest_chunk_bytes);
  reader.later_number("keyless_entries", scenario.keyless_entries, 0,
                      scenario.geometry.table_entries);
  reader.later_number("wall_clock_error_ns", scenario.wall_clock_error_ns, 0, longest_ns);
  if (reader.has("cleanups")) read_cleanups(reader, scenario.cleanups);
  if (reader.has("attacks")) read_attacks(reader, scenario.attacks);
  if (reader.has("stage")) {
    Reader inner(*reader.member("stage"), "scenario_options.stage.");
    scenario.stage = read_stage(inner);
    reader.adopt(inner);
  }
  const auto* clients = reader.array("clients", most_clients);
  for (std::size_t index = 0; clients != nullptr && index < clients->size(); ++index) {
    const std::string path = fmt::format("scenario_options.clients[{}].", index);
    Reader inner((*clients)[index], path);
    scenario.clients.push_back(read_client(inner, path));
    reader.adopt(inner);
  }
  if (!reader.problem().empty()) return tl::unexpected(reader.problem());
  return scenario;
}

}  // namespace falafel::store_scenario
