// The tricks of a hostile client: with questions and with regions.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/layout/container.h"
#include "engine/server/client_channel.h"
#include "tools/scenarios/store/hostile_party.h"
#include "tools/scenarios/store/store_world.h"

namespace falafel::store_scenario {
namespace {

using engine::ControlMessage;
using engine::Entry;
using engine::MessageKind;

constexpr std::uint64_t answer_patience_ns = 100'000;

}  // namespace

// The server hears this client all the time, and must fence it once it has asked something. In half
// of the cases, it answers no question. Otherwise it evades the question for regions alone: it
// takes several, and gives one back.
HostileParty::Result HostileParty::evade(fabric::Host& host, const PlannedAttack& attack) {
  constexpr std::uint64_t heartbeats_per_timeout = 4;
  constexpr std::uint64_t timeouts = 6;
  const std::uint64_t interval_ns = scenario_.heartbeat_timeout_ns / heartbeats_per_timeout;
  const bool gives_one_back = attack.number % 2 != 0;
  if (gives_one_back && take_regions(host) == Result::broken) return Result::broken;
  bool may_release = gives_one_back;
  for (std::uint64_t count = 0; count < timeouts * heartbeats_per_timeout; ++count) {
    if (!client_->send({.kind = MessageKind::heartbeat})) return Result::broken;
    host.sleep_until(host.now_ns() + interval_ns);
    while (const auto message = client_->receive(host.now_ns())) {
      note_grant(*message);
      if (!gives_one_back) continue;
      if (message->kind == MessageKind::ask_for_quiescence) {
        client_->send({.kind = MessageKind::heartbeat, .epoch = message->epoch});
      }
      if (message->kind != MessageKind::return_regions || regions_.empty()) continue;
      if (!std::exchange(may_release, false)) continue;
      client_->send({.kind = MessageKind::release_region,
                     .region = regions_.front().number,
                     .incarnation = regions_.front().incarnation});
      regions_.erase(regions_.begin());
    }
  }
  return Result::done;
}

// The release is right except for its sender. The server's books say who this client is, because
// they know its own region, too.
HostileParty::Result HostileParty::steal_release(fabric::Host& host, const PlannedAttack& attack) {
  if (!has_region(host)) return Result::done;
  const std::vector<engine::RegionInspection> held = inspect_().regions;
  const Region& own = regions_.back();
  if (own.number >= held.size() || held[own.number].incarnation != own.incarnation) {
    return Result::done;
  }
  const std::uint32_t self = held[own.number].client;
  for (std::uint64_t count = 0; count < held.size(); ++count) {
    const std::uint64_t number = (attack.number + count) % held.size();
    const engine::RegionInspection& region = held[number];
    if (region.state != engine::RegionState::granted || region.client == self) continue;
    const ControlMessage release{.kind = MessageKind::release_region,
                                 .region = static_cast<std::uint32_t>(number),
                                 .incarnation = region.incarnation};
    return client_->send(release) ? Result::breach : Result::broken;
  }
  return Result::done;
}

// Waits until the server has received a message after these. It handles them one after the other,
// and each message of the server tells how many it has received.
bool HostileParty::wait_until_handled(fabric::Host& host, std::uint64_t sent) {
  for (std::uint64_t count = 0; count < engine::message_credits / 2; ++count) {
    if (!client_->send({.kind = MessageKind::heartbeat})) return false;
  }
  const std::uint64_t deadline_ns = host.now_ns() + answer_patience_ns;
  while (const auto message = client_->receive(deadline_ns)) {
    note_grant(*message);
    if (message->received > sent) return true;
  }
  return false;
}

// A WRITE that the device admits before the server revokes the right may land. The server has
// revoked it before it says that it has received the release, so this one must be refused.
HostileParty::Result HostileParty::write_late(fabric::Host& host, const PlannedAttack& attack) {
  if (!has_region(host)) return Result::done;
  const Region region = regions_.back();
  regions_.pop_back();
  if (!client_->send({.kind = MessageKind::release_region,
                      .region = region.number,
                      .incarnation = region.incarnation})) {
    return Result::broken;
  }
  if (!wait_until_handled(host, client_->sent())) return Result::broken;
  const engine::Geometry& geometry = scenario_.geometry;
  const std::uint64_t words = geometry.region_bytes / fabric::word_bytes;
  fabric::WorkRequest write;
  write.opcode = fabric::Opcode::write;
  write.length_bytes = fabric::word_bytes;
  write.local = client_->buffer().at(0);
  write.remote = {region.remote_key, geometry.region_offset(region.number) +
                                         attack.number % words * fabric::word_bytes};
  if (!client_->execute(write)) return Result::broken;
  violation_ = {.verdict = checkers::Verdict::violated,
                .property = "hostile.wrote-late",
                .explanation = fmt::format(
                    "the hostile client has written to region {}, although the server had received "
                    "its release before",
                    region.number)};
  return Result::done;
}

// Searches for the key behind the gap end there. If the server unlocked the entry, the key would be
// in the table, and nobody would find it.
HostileParty::Result HostileParty::break_chain(const PlannedAttack& attack) {
  const engine::Geometry& geometry = scenario_.geometry;
  constexpr std::uint64_t longest_distance = 2;
  const std::uint64_t behind =
      (attack.slot + 1 + attack.number % longest_distance) % geometry.table_entries;
  const auto empty = [&](Entry entry) {
    return entry.with_next_tag(geometry.tag_bits).pointing_to(0);
  };
  const auto lock = [](Entry entry) { return entry.with_locked(); };
  const bool has_swapped = swap_entry(attack.slot, empty) && swap_entry(behind, lock);
  return has_swapped ? Result::done : Result::broken;
}

// Nothing is wrong with the container, but a collection that copied it once for each entry would
// need more memory than the region has.
HostileParty::Result HostileParty::share_container(fabric::Host& host,
                                                   const PlannedAttack& attack) {
  constexpr std::uint64_t fewest_entries = 2;
  constexpr std::uint64_t most_container_bytes = 2'048;
  if (!has_region(host)) return Result::done;
  const engine::Geometry& geometry = scenario_.geometry;
  const Region region = regions_.back();
  regions_.pop_back();
  const std::string key = key_name(static_cast<std::uint32_t>(attack.number % 8));
  const std::uint64_t container_bytes = std::min(geometry.region_bytes, most_container_bytes);
  const std::uint64_t overhead_bytes = engine::container_bytes(key.size(), 0);
  if (container_bytes < overhead_bytes) return Result::done;
  const std::span<std::byte> bytes = client_->buffer().bytes(0, container_bytes);
  engine::write_container(std::as_bytes(std::span(key)),
                          std::vector<std::byte>(container_bytes - overhead_bytes), bytes);
  fabric::WorkRequest write;
  write.opcode = fabric::Opcode::write;
  write.length_bytes = static_cast<std::uint32_t>(container_bytes);
  write.local = client_->buffer().at(0);
  write.remote = {region.remote_key, geometry.region_offset(region.number)};
  if (!client_->execute(write)) return Result::broken;
  const std::uint32_t place = geometry.to_units(geometry.region_offset(region.number));
  const auto point = [&](Entry entry) {
    return entry.pointing_to(place).with_next_tag(geometry.tag_bits);
  };
  for (std::uint64_t count = fewest_entries + attack.number / 8 % 3; count > 0; --count) {
    if (!swap_entry(attack.slot + count, point)) return Result::broken;
  }
  const ControlMessage release{.kind = MessageKind::release_region,
                               .region = region.number,
                               .incarnation = region.incarnation};
  return client_->send(release) ? Result::done : Result::broken;
}

// The server's messages to this client stay in flight. Until all its buffers are, each of its
// confirmations gives the client more credits. After the last one, the client has all of them. An
// earlier connection must not have given the server a reason to expel it.
HostileParty::Result HostileParty::use_all_credits(fabric::Host& host) {
  constexpr std::uint64_t most_messages =
      engine::ClientChannel::send_count * engine::message_credits + 2;
  constexpr std::uint64_t steps_per_message = 32;
  if (connections_ > 1 || client_->sent() > 0) return Result::done;
  client_.reset();
  client_ = connect(host, 0);
  if (client_ == nullptr) return Result::broken;
  ++connections_;
  for (std::uint64_t count = 0; count < most_messages; ++count) {
    if (is_expelled()) break;
    if (!client_->send({.kind = MessageKind::heartbeat})) break;
    host.sleep_until(host.now_ns() + steps_per_message * scenario_.simulation.step_duration_ns);
  }
  return Result::broken;
}

// Nobody else gives the server a reason to expel a client.
bool HostileParty::is_expelled() {
  const std::vector<engine::ClientInspection> clients = inspect_().clients;
  const auto expelled = std::ranges::find_if(clients, &engine::ClientInspection::expelled);
  if (expelled == clients.end()) return false;
  if (expelled->unconfirmed <= engine::message_credits) {
    violation_ = {.verdict = checkers::Verdict::violated,
                  .property = "hostile.refused-credit",
                  .explanation = fmt::format(
                      "the server has expelled the hostile client, which has sent {} messages "
                      "since the last confirmation, of {} that it may send",
                      expelled->unconfirmed, engine::message_credits)};
  }
  return true;
}

}  // namespace falafel::store_scenario
