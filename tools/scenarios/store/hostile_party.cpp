#include "tools/scenarios/store/hostile_party.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "engine/layout/container.h"
#include "engine/layout/crc32c.h"
#include "engine/layout/status_line.h"
#include "engine/layout/tables.h"
#include "fabric/at_end.h"
#include "tools/scenarios/store/store_world.h"

namespace falafel::store_scenario {
namespace {

using engine::ControlMessage;
using engine::Entry;
using engine::MessageKind;

constexpr std::uint64_t hostile_acknowledge_timeout_ns = 100'000;
constexpr std::uint64_t longest_answer_ns = 100'000;
// The number of attempts to swap an entry that others change, too.
constexpr int most_swaps = 16;
// A number that no grant and no question has.
constexpr std::uint64_t never_used = ~std::uint64_t{0};

bool is_of_clients(MessageKind kind, bool is_cache) {
  if (kind == MessageKind::report_accesses) return is_cache;
  return (kind >= MessageKind::request_region && kind <= MessageKind::request_end) ||
         kind == MessageKind::report_freed;
}

// A header that verifies, over a key that does if it is as long as the header says.
void write_header(std::uint32_t key_bytes, std::uint32_t value_bytes,
                  std::span<const std::byte> key, std::span<std::byte> destination) {
  engine::ContainerHeader header;
  header.key_bytes = key_bytes;
  header.value_bytes = value_bytes;
  const auto checked = std::as_bytes(std::span(&header, 1));
  header.header_crc = engine::crc32c(checked.first(offsetof(engine::ContainerHeader, header_crc)));
  header.key_crc = engine::crc32c(key, header.header_crc);
  header.value_crc = header.key_crc;
  std::memcpy(destination.data(), &header, sizeof header);
  std::ranges::copy(key.first(std::min(key.size(), destination.size() - sizeof header)),
                    destination.begin() + sizeof header);
}

// Writes a lie for `offset` of a region to `destination`, the bytes from there on.
void write_lie(const engine::Geometry& geometry, std::uint64_t number, std::uint64_t offset,
               std::span<std::byte> destination) {
  const std::string name = key_name(static_cast<std::uint32_t>(number / 8 % 8));
  const auto key = std::as_bytes(std::span(name));
  const auto key_bytes = static_cast<std::uint32_t>(key.size());
  const std::uint64_t room =
      destination.size() - std::min(destination.size(), engine::container_bytes(key.size(), 0));
  const auto beyond = static_cast<std::uint32_t>(geometry.region_bytes);
  switch (number % 6) {
    case 0: return write_header(key_bytes, 0xffff'ffff, key, destination);
    case 1: return write_header(0xffff'ffff, 0, key, destination);
    case 2: return write_header(0, beyond, {}, destination);
    // As long as a region, and so beyond the end of this one.
    case 3:
      return write_header(key_bytes, beyond - std::min(beyond, key_bytes + 24), key, destination);
    case 4: return write_header(key_bytes, static_cast<std::uint32_t>(offset), key, destination);
    default: break;
  }
  if (room == 0) return write_header(key_bytes, 0, key, destination);
  // Nothing wrong with it, but it reaches over whatever comes behind.
  engine::write_container(key, std::vector<std::byte>(room), destination);
}

}  // namespace

HostileParty::HostileParty(const Scenario& scenario, std::function<bool()> are_faults_over,
                           std::function<bool()> is_server_stopped,
                           std::function<engine::ServerInspection()> inspect)
    : scenario_(scenario),
      are_faults_over_(std::move(are_faults_over)),
      is_server_stopped_(std::move(is_server_stopped)),
      inspect_(std::move(inspect)) {}

void HostileParty::run(fabric::Host& host, const fabric::Address& server) {
  const fabric::AtEnd leave([this] {
    client_.reset();
    regions_.clear();
  });
  server_ = server;
  while (connections_ < most_connections && next_attack_ < scenario_.attacks.size()) {
    client_ = connect(host, RawClientOptions{}.receive_requests);
    if (client_ == nullptr) return;
    ++connections_;
    attack_all(host);
    client_.reset();
    regions_.clear();
  }
}

// The server may not be there yet, or not again, or have as many clients as it takes.
std::unique_ptr<RawClient> HostileParty::connect(fabric::Host& host,
                                                 std::uint32_t receive_requests) {
  constexpr int most_attempts = 20;
  const RawClientOptions options{.receive_requests = receive_requests,
                                 .connect_timeout_ns = 2'000'000,
                                 .acknowledge_timeout_ns = hostile_acknowledge_timeout_ns,
                                 .receiver_not_ready_retry_count = 3};
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    if (auto client = RawClient::connect(host, server_, options)) return client;
    host.sleep_until(host.now_ns() + (std::uint64_t{5'000} << std::min(attempt, 10)));
  }
  return nullptr;
}

void HostileParty::attack_all(fabric::Host& host) {
  while (next_attack_ < scenario_.attacks.size()) {
    const PlannedAttack& attack = scenario_.attacks[next_attack_++];
    if (attack.pause_ns > 0) host.sleep_until(host.now_ns() + attack.pause_ns);
    listen(host);
    switch (carry_out(host, attack)) {
      case Result::done: break;
      case Result::broken: return;
      case Result::breach: return wait_until_expelled(host, attack);
    }
  }
}

HostileParty::Result HostileParty::carry_out(fabric::Host& host, const PlannedAttack& attack) {
  switch (attack.kind) {
    case AttackKind::odd_length:
    case AttackKind::unknown_kind:
    case AttackKind::foreign_release:
    case AttackKind::future_epoch: return say(attack);
    case AttackKind::repeated_release: return release_twice(host);
    case AttackKind::repeated_request: return repeat_request();
    case AttackKind::flood: return flood(attack);
    case AttackKind::greed: return take_regions(host);
    case AttackKind::flag_entry: return flag_entry(attack);
    case AttackKind::empty_entry: return empty_entry(attack);
    case AttackKind::flip_entry: return flip_entry(attack);
    case AttackKind::point_entry: return point_entry(attack);
    case AttackKind::evasion: return evade(host, attack);
    case AttackKind::stolen_release: return steal_release(host, attack);
    case AttackKind::late_write: return write_late(host, attack);
    case AttackKind::broken_chain: return break_chain(attack);
    case AttackKind::shared_container: return share_container(host, attack);
    case AttackKind::all_credits: return use_all_credits(host);
    case AttackKind::lying_container: break;
  }
  return lie(host, attack);
}

// --------------------------------------------------------------------------------------------
// Messages

// One message that is wrong in itself.
HostileParty::Result HostileParty::say(const PlannedAttack& attack) {
  constexpr std::uint64_t longest_bytes = 64;
  ControlMessage message{.kind = MessageKind::heartbeat, .epoch = never_used};
  if (attack.kind == AttackKind::odd_length) {
    std::array<std::byte, longest_bytes> bytes{};
    const std::uint64_t length_bytes = attack.number % longest_bytes;
    const bool is_right = length_bytes == engine::control_message_bytes;
    const std::uint64_t sent_bytes = is_right ? length_bytes - 1 : length_bytes;
    return client_->send_bytes(std::span(bytes).first(sent_bytes)) ? Result::breach
                                                                   : Result::broken;
  }
  if (attack.kind == AttackKind::unknown_kind) {
    message.kind = static_cast<MessageKind>(static_cast<std::uint32_t>(attack.number));
    if (is_of_clients(message.kind, scenario_.geometry.values_expire)) {
      message.kind = MessageKind::grant_region;
    }
  }
  if (attack.kind == AttackKind::foreign_release) {
    message = {.kind = MessageKind::release_region,
               .region = static_cast<std::uint32_t>(attack.number),
               .incarnation = never_used};
  }
  return client_->send(message) ? Result::breach : Result::broken;
}

HostileParty::Result HostileParty::release_twice(fabric::Host& host) {
  if (!has_region(host)) return Result::done;
  const Region region = regions_.back();
  regions_.pop_back();
  const ControlMessage release{.kind = MessageKind::release_region,
                               .region = region.number,
                               .incarnation = region.incarnation};
  return client_->send(release) && client_->send(release) ? Result::breach : Result::broken;
}

// The server may have answered the first one before it reads the second.
HostileParty::Result HostileParty::repeat_request() {
  const ControlMessage request{.kind = MessageKind::request_region};
  return client_->send(request) && client_->send(request) ? Result::done : Result::broken;
}

HostileParty::Result HostileParty::flood(const PlannedAttack& attack) {
  constexpr std::uint64_t most_messages = 128;
  for (std::uint64_t count = attack.number % most_messages; count > 0; --count) {
    if (!client_->send({.kind = MessageKind::heartbeat})) return Result::broken;
  }
  return Result::done;
}

HostileParty::Result HostileParty::take_regions(fabric::Host& host) {
  for (std::uint64_t count = 0; count < scenario_.geometry.region_count; ++count) {
    const std::size_t before = regions_.size();
    if (!client_->send({.kind = MessageKind::request_region})) return Result::broken;
    host.sleep_until(host.now_ns() + longest_answer_ns);
    listen(host);
    if (regions_.size() == before) break;
  }
  return Result::done;
}

// Answers the question of quiescence, and no other.
void HostileParty::listen(fabric::Host& host) {
  while (const auto message = client_->receive(host.now_ns())) {
    note_grant(*message);
    if (message->kind == MessageKind::ask_for_quiescence) {
      client_->send({.kind = MessageKind::heartbeat, .epoch = message->epoch});
    }
  }
}

void HostileParty::note_grant(const ControlMessage& message) {
  if (message.kind != MessageKind::grant_region) return;
  regions_.push_back({message.region, message.incarnation, message.remote_key});
}

bool HostileParty::has_region(fabric::Host& host) {
  if (!regions_.empty()) return true;
  if (!client_->send({.kind = MessageKind::request_region})) return false;
  host.sleep_until(host.now_ns() + longest_answer_ns);
  listen(host);
  return !regions_.empty();
}

// A server that does not stand still acts on a breach as soon as it has read the message.
void HostileParty::wait_until_expelled(fabric::Host& host, const PlannedAttack& attack) {
  constexpr int patience = 50;
  const std::uint64_t interval_ns =
      scenario_.heartbeat_timeout_ns / 8 + scenario_.simulation.longest_stall_ns / 8;
  fabric::WorkRequest look;
  look.opcode = fabric::Opcode::read;
  look.length_bytes = fabric::word_bytes;
  look.local = client_->buffer().at(0);
  look.remote = {client_->hello().chunk_key, 0};
  std::uint64_t wait_ns = 2'000;
  for (int attempt = 0; attempt < patience;) {
    if (is_server_stopped_() || !client_->execute(look)) return;
    host.sleep_until(host.now_ns() + wait_ns);
    wait_ns = std::min(2 * wait_ns, interval_ns);
    if (wait_ns == interval_ns && are_faults_over_()) ++attempt;
  }
  violation_ = {
      .verdict = checkers::Verdict::violated,
      .property = "hostile.not-expelled",
      .explanation = fmt::format("the hostile client is still connected, long after its {}",
                                 to_string(attack.kind))};
}

// --------------------------------------------------------------------------------------------
// Words

std::optional<std::uint64_t> HostileParty::read_word(fabric::MemoryAddress place) {
  fabric::WorkRequest request;
  request.opcode = fabric::Opcode::read;
  request.length_bytes = fabric::word_bytes;
  request.local = client_->buffer().at(0);
  request.remote = place;
  if (!client_->execute(request)) return std::nullopt;
  std::uint64_t word = 0;
  std::memcpy(&word, client_->buffer().bytes(0, sizeof word).data(), sizeof word);
  return word;
}

// If the memory grows, a table that has not begun may have none. Otherwise the client also attacks
// tables before they begin.
std::uint64_t HostileParty::count_slots() {
  const engine::Geometry& geometry = scenario_.geometry;
  if (!geometry.can_grow() || !scenario_.memory_grows) return geometry.slot_count();
  const auto word = read_word({client_->hello().chunk_key, engine::tables_offset});
  return geometry.first_slot(engine::Tables::from_word(word.value_or(0)).last + 1);
}

fabric::MemoryAddress HostileParty::place_of(std::uint64_t slot) {
  const std::uint64_t attacked = slot % count_slots();
  const bool is_in_first_table = attacked < scenario_.geometry.table_entries;
  return {is_in_first_table ? client_->hello().table_key : client_->later_tables_key(),
          scenario_.geometry.entry_offset(attacked)};
}

// False if the connection is broken.
bool HostileParty::swap_entry(std::uint64_t slot, const std::function<Entry(Entry)>& alter) {
  const fabric::MemoryAddress place = place_of(slot);
  auto expected = read_word(place);
  for (int attempt = 0; expected && attempt < most_swaps; ++attempt) {
    fabric::WorkRequest request;
    request.opcode = fabric::Opcode::compare_and_swap;
    request.length_bytes = fabric::word_bytes;
    request.local = client_->buffer().at(0);
    request.remote = place;
    request.compare = *expected;
    request.swap_or_add = alter(Entry(*expected)).word();
    if (!client_->execute(request)) return false;
    std::uint64_t found = 0;
    std::memcpy(&found, client_->buffer().bytes(0, sizeof found).data(), sizeof found);
    if (found == *expected) return true;
    expected = found;
  }
  return expected.has_value();
}

namespace {

Entry with_flags(Entry entry, std::uint64_t number) {
  if (number % 2 != 0) entry = entry.with_deleted();
  if (number / 2 % 2 != 0) entry = entry.with_locked();
  return entry;
}

}  // namespace

HostileParty::Result HostileParty::flag_entry(const PlannedAttack& attack) {
  const auto flag = [&](Entry entry) {
    return with_flags(entry.pointing_to(entry.reference()), attack.number)
        .with_next_tag(scenario_.geometry.tag_bits);
  };
  return swap_entry(attack.slot, flag) ? Result::done : Result::broken;
}

// Some words that were there before come back as well.
HostileParty::Result HostileParty::empty_entry(const PlannedAttack& attack) {
  const auto empty = [&](Entry entry) {
    const Entry tagged = entry.with_next_tag(scenario_.geometry.tag_bits);
    return with_flags((attack.number / 4 % 2 == 0 ? tagged : Entry{}).pointing_to(0),
                      attack.number);
  };
  return swap_entry(attack.slot, empty) ? Result::done : Result::broken;
}

HostileParty::Result HostileParty::flip_entry(const PlannedAttack& attack) {
  constexpr std::uint64_t most_flips = 128;
  for (std::uint64_t count = attack.number % most_flips; count > 0; --count) {
    const auto flip = [&](Entry entry) {
      const Entry next = entry.with_next_tag(scenario_.geometry.tag_bits);
      return entry.is_locked() ? next.without_lock() : next.with_locked();
    };
    if (!swap_entry(attack.slot, flip)) return Result::broken;
  }
  return Result::done;
}

// --------------------------------------------------------------------------------------------
// Containers

HostileParty::Result HostileParty::point_entry(const PlannedAttack& attack) {
  const std::uint32_t reference = reference_to_point_to(attack);
  const auto point = [&](Entry entry) {
    return entry.pointing_to(reference).with_next_tag(scenario_.geometry.tag_bits);
  };
  return swap_entry(attack.slot, point) ? Result::done : Result::broken;
}

std::uint32_t HostileParty::reference_to_point_to(const PlannedAttack& attack) {
  const engine::Geometry& geometry = scenario_.geometry;
  const std::uint64_t number = attack.number / 4;
  std::uint64_t offset = number % geometry.chunk_bytes();
  switch (attack.number % 4) {
    case 0:
      if (regions_.empty()) break;
      offset = geometry.region_offset(regions_.back().number) + number % geometry.region_bytes;
      break;
    case 1: {
      const auto other = read_word(place_of(number));
      return other ? Entry(*other).reference() : 0;
    }
    case 2: return static_cast<std::uint32_t>(attack.number);
    default: break;
  }
  return static_cast<std::uint32_t>(offset / geometry.unit_bytes);
}

HostileParty::Result HostileParty::lie(fabric::Host& host, const PlannedAttack& attack) {
  if (!has_region(host)) return Result::done;
  const engine::Geometry& geometry = scenario_.geometry;
  const Region& region = regions_.back();
  const std::uint64_t units = geometry.region_bytes / geometry.unit_bytes;
  std::uint64_t offset = attack.number / 64 % units * geometry.unit_bytes;
  if (geometry.region_bytes - offset < engine::container_header_bytes) offset = 0;
  constexpr std::uint64_t most_bytes = 2'048;
  std::vector<std::byte> bytes(std::min(geometry.region_bytes - offset, most_bytes));
  write_lie(geometry, attack.number, offset, bytes);
  std::ranges::copy(bytes, client_->buffer().bytes(0, bytes.size()).begin());
  fabric::WorkRequest write;
  write.opcode = fabric::Opcode::write;
  write.length_bytes = static_cast<std::uint32_t>(bytes.size());
  write.local = client_->buffer().at(0);
  write.remote = {region.remote_key, geometry.region_offset(region.number) + offset};
  if (!client_->execute(write)) return Result::broken;
  const std::uint32_t place = geometry.to_units(geometry.region_offset(region.number) + offset);
  const auto point = [&](Entry entry) {
    return entry.pointing_to(place).with_next_tag(geometry.tag_bits);
  };
  return swap_entry(attack.slot, point) ? Result::done : Result::broken;
}

}  // namespace falafel::store_scenario
