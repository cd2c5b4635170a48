// Parts of the worlds of comparison stores with one server: a server that starts at last, a client
// that connects in time, and operations on it as calls of a map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "checkers/specifications/key_value_map.h"
#include "fabric/fabric.h"
#include "fabric/text.h"
#include "fabric/time_units.h"
#include "stores/answer.h"

namespace falafel::scenarios {

// Values as texts of any length.
struct Texts {
  std::span<const std::byte> encode(const std::string& value) const {
    return fabric::bytes_of(value);
  }
  std::string decode(std::span<const std::byte> bytes) const { return fabric::text_of(bytes); }
};

// The answer to an operation, if it says anything about the store. `coding` turns values into bytes
// and back, and `note_get` sees the result of a GET as the store has it.
template <typename Client, typename Coding, typename NoteGet>
std::optional<checkers::specifications::KeyValueMap::Result> execute_on(
    Client& client, const checkers::specifications::KeyValueMap::Operation& operation,
    const Coding& coding, stores::Answer& answer, NoteGet&& note_get) {
  using Map = checkers::specifications::KeyValueMap;
  using stores::Answer;
  if (const auto* const set = std::get_if<Map::Set>(&operation)) {
    answer = client.set(fabric::bytes_of(set->key), coding.encode(set->value)).answer;
    return answer == Answer::stored ? std::optional(Map::Result()) : std::nullopt;
  }
  if (const auto* const get = std::get_if<Map::Get>(&operation)) {
    const auto result = client.get(fabric::bytes_of(get->key));
    note_get(result);
    answer = result.answer;
    if (answer == Answer::found) return Map::found(coding.decode(result.value));
    return answer == Answer::not_found ? std::optional(Map::absent()) : std::nullopt;
  }
  answer = client.remove(fabric::bytes_of(std::get<Map::Remove>(operation).key)).answer;
  if (answer == Answer::deleted) return Map::removed();
  return answer == Answer::not_found ? std::optional(Map::absent()) : std::nullopt;
}
template <typename Client, typename Coding>
auto execute_on(Client& client, const checkers::specifications::KeyValueMap::Operation& operation,
                const Coding& coding, stores::Answer& answer) {
  return execute_on(client, operation, coding, answer, [](const auto&) {});
}

// Calls `start` until it succeeds: registrations may fail, and addresses may still be in use.
template <typename Start>
auto start_at_last(fabric::Host& host, Start start) {
  while (true) {
    if (auto started = start()) return std::move(*started);
    host.sleep_until(host.now_ns() + 10 * fabric::microsecond_ns);
  }
}

// Null if `connect` does not succeed within the time, for instance because the server has not
// started.
template <typename Connect>
auto connect_within(fabric::Host& host, std::uint64_t time_ns, std::uint64_t pause_ns,
                    Connect connect) {
  const std::uint64_t deadline_ns = host.now_ns() + time_ns;
  while (host.now_ns() < deadline_ns) {
    if (auto client = connect()) return std::move(*client);
    host.sleep_until(host.now_ns() + pause_ns);
  }
  return std::remove_cvref_t<decltype(*connect())>();
}

}  // namespace falafel::scenarios
