#include "tools/server/memcached_front/value_change.h"

#include <fmt/format.h>

#include <charconv>

#include "engine/client/condition.h"
#include "tools/server/memcached_front/cas_id.h"
#include "tools/server/memcached_front/stored_value.h"

namespace falafel::memcached_front {
namespace {

using engine::Answer;
using engine::Condition;

// The value to be stored. Without an exptime, it expires when the present one would have.
struct Next {
  std::string value;
  std::uint32_t flags = 0;
  std::optional<std::int64_t> exptime{};
};

// Returns `stored` if `next` is to be stored, and otherwise the result. `present` is null if the
// key is absent.
using Decide = std::function<ChangeResult(const FlaggedValue* present, Next& next)>;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

// Makes one attempt. Returns nullopt if the value has changed in between.
std::optional<Change> try_to_change(Storage& storage, const Request& request,
                                    const Decide& decide) {
  std::string present;
  const Answer found =
      storage.get(request.key, [&](const StoredValue& stored) { present = stored.bytes; });
  const bool is_present = found == Answer::found;
  if (!is_present && found != Answer::not_found) return Change{.answer = found};
  if (request.cas && !is_present) return Change{.result = ChangeResult::not_found};
  if (request.cas && *request.cas != cas_id_of(present)) {
    return Change{.result = ChangeResult::exists};
  }
  const FlaggedValue decoded = decode(present);
  Next next;
  const ChangeResult decided = decide(is_present ? &decoded : nullptr, next);
  if (decided != ChangeResult::stored) return Change{.result = decided};
  std::string encoded;
  const std::string_view stored = encode({.value = next.value, .flags = next.flags}, encoded);
  const Answer answer = storage.compare_and_set(
      request.key, is_present ? Condition::equals(bytes_of(present)) : Condition::absent(), stored,
      next.exptime);
  if (answer == Answer::differs) return std::nullopt;
  if (answer != Answer::stored) return Change{.answer = answer};
  return Change{.result = ChangeResult::stored, .value = std::string(stored)};
}

Change change(Storage& storage, const Request& request, const Decide& decide) {
  for (;;) {
    if (auto changed = try_to_change(storage, request, decide)) return *changed;
  }
}

// memcached permits spaces behind the digits, which it leaves when a number gets shorter.
std::optional<std::uint64_t> number_in(std::string_view text) {
  const std::size_t last = text.find_last_not_of(' ');
  if (last == std::string_view::npos) return std::nullopt;
  const char* const end = text.data() + last + 1;
  std::uint64_t number = 0;
  const auto [parsed_end, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || parsed_end != end) return std::nullopt;
  return number;
}

// As in memcached, an increment wraps around and a decrement ends at 0.
std::uint64_t sum_of(std::uint64_t number, const Arithmetic& arithmetic) {
  if (!arithmetic.decrements) return number + arithmetic.delta;
  return number < arithmetic.delta ? 0 : number - arithmetic.delta;
}

ChangeResult decide_to_store(const Request& request, const FlaggedValue* present, Next& next) {
  const bool needs_value = request.mode != StoreMode::set && request.mode != StoreMode::add;
  if (request.mode == StoreMode::add && present != nullptr) return ChangeResult::not_stored;
  if (needs_value && present == nullptr) return ChangeResult::not_stored;
  const bool extends = request.mode == StoreMode::append || request.mode == StoreMode::prepend;
  next.flags = extends ? present->flags : request.flags;
  if (!extends) next.exptime = request.exptime.value_or(0);
  if (request.mode == StoreMode::append) next.value = present->value;
  next.value += request.value;
  if (request.mode == StoreMode::prepend) next.value += present->value;
  return ChangeResult::stored;
}

}  // namespace

Change store_value(Storage& storage, const Request& request) {
  return change(storage, request, [&](const FlaggedValue* present, Next& next) {
    return decide_to_store(request, present, next);
  });
}

Change add_to_number(Storage& storage, const Request& request) {
  const Arithmetic& arithmetic = request.arithmetic;
  return change(storage, request, [&](const FlaggedValue* present, Next& next) {
    if (present == nullptr && !arithmetic.initial) return ChangeResult::not_found;
    if (present == nullptr) {
      next = {.value = fmt::to_string(*arithmetic.initial), .exptime = request.exptime};
      return ChangeResult::stored;
    }
    const auto number = number_in(present->value);
    if (!number) return ChangeResult::not_numeric;
    next = {.value = fmt::to_string(sum_of(*number, arithmetic)), .flags = present->flags};
    return ChangeResult::stored;
  });
}

Change touch(Storage& storage, const Request& request) {
  return change(storage, request, [&](const FlaggedValue* present, Next& next) {
    if (present == nullptr) return ChangeResult::not_found;
    next = {
        .value = std::string(present->value), .flags = present->flags, .exptime = request.exptime};
    return ChangeResult::stored;
  });
}

Answer look_up(Storage& storage, Statistics& statistics, const Request& request,
               const std::function<void(const StoredValue&)>& use) {
  Answer answer = Answer::not_found;
  if (request.exptime) {
    const Change touched = touch(storage, request);
    if (touched.result == ChangeResult::refused) answer = touched.answer;
    if (touched.result == ChangeResult::stored) {
      answer = Answer::found;
      use({.bytes = touched.value});
    }
  } else {
    answer = storage.get(request.key, use);
  }
  if (answer == Answer::found) ++statistics.get_hits;
  if (answer == Answer::not_found) ++statistics.get_misses;
  return answer;
}

}  // namespace falafel::memcached_front
