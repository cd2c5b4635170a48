// GET: FIND, then a READ of the value unless it came with the start of the container. The operation
// takes effect when FIND reads the entry, or, for an absent key, when all entries of its chain were
// present together. The container does not change after that while this operation lasts. If the
// location cache has the key, a READ of the entry and of the whole container precedes FIND.
//
// In a cache, a GET that finds an expired value deletes it like a DELETE. The value is then absent
// for everybody, whatever their clocks say.
#include "engine/client/get.h"

#include <new>

#include "engine/client/cached_search.h"
#include "engine/client/find.h"
#include "engine/client/pending_operation.h"
#include "engine/layout/expiry.h"
#include "engine/probes.h"

namespace falafel::engine {
namespace {

// Takes the value that was found. Returns `found` unless memory runs out.
using Receive =
    std::function<Answer(PendingOperation& operation, std::span<const std::byte> value)>;

// Returns nullopt if another operation changed the entry first.
std::optional<Answer> remove_expired(PendingOperation& operation, const FindResult& position) {
  operation.count(probes::value_expired);
  if (!operation.safeguards().expired_removal) return Answer::not_found;
  auto request =
      operation.buffers().swap_entry(position.slot, position.entry, position.entry.with_deleted());
  switch (operation.post_swap({&request, 1}, position.entry)) {
    case Swap::won: return Answer::not_found;
    case Swap::lost: return std::nullopt;
    case Swap::not_tried:
    case Swap::in_doubt: break;
  }
  return Answer::disconnected;
}

// Returns nullopt if the value was expired and another operation changed the entry first.
std::optional<Answer> deliver_value(PendingOperation& operation, const FindResult& position,
                                    std::span<const std::byte> value, const Receive& receive) {
  const Geometry& geometry = operation.geometry();
  if (!geometry.values_expire) return receive(operation, value);
  if (is_expired(value, operation.host().wall_clock_ns())) {
    return remove_expired(operation, position);
  }
  operation.session().accesses().note(position.slot);
  return receive(operation, without_expiry(geometry, value));
}

// Returns nullopt if the operation has to restart.
std::optional<Answer> read_value(PendingOperation& operation, FindResult& position,
                                 const Receive& receive) {
  switch (operation.load_through(position.container, position.header.container_bytes())) {
    case PendingOperation::Load::done: break;
    case PendingOperation::Load::out_of_memory: return Answer::out_of_memory;
    case PendingOperation::Load::disconnected: return Answer::disconnected;
  }
  const auto bytes =
      read_container_value(position.container.bytes(), position.header, operation.verification());
  operation.spend_on_checksum(position.header.value_bytes);
  std::optional<Answer> answer;
  if (bytes) {
    answer = deliver_value(operation, position, *bytes, receive);
  } else if (operation.note_bad_checksum(position.slot, position.entry)) {
    answer = Answer::corrupted;
  }
  if (!answer) operation.restart();
  return answer;
}

Answer look_up(PendingOperation& operation, const HashedKey& key, const Receive& receive) {
  CachedSearch cached(operation, key);
  std::optional<FindResult> known = cached.read();
  for (;; known.reset()) {
    FindResult position = known ? *known : find(operation, key);
    switch (position.outcome) {
      case FindOutcome::occupied: break;
      case FindOutcome::empty:
      case FindOutcome::table_walked: return Answer::not_found;
      case FindOutcome::corrupted: return Answer::corrupted;
      case FindOutcome::out_of_memory: return Answer::out_of_memory;
      case FindOutcome::timed_out: return Answer::timed_out;
      case FindOutcome::disconnected: return Answer::disconnected;
    }
    if (position.entry.is_deleted()) return Answer::not_found;
    const auto answer = read_value(operation, position, receive);
    if (answer == Answer::found) {
      cached.remember(position.slot, position.entry, position.header.container_bytes());
    }
    if (answer) return *answer;
  }
}

GetResult get_with(const OperationContext& context, std::span<const std::byte> key,
                   const Receive& receive) {
  GetResult result;
  if (key.empty() || key.size() > max_key_bytes) {
    result.answer = Answer::invalid_key;
    return result;
  }
  PendingOperation operation(context);
  operation.begin();
  result.answer = look_up(operation, hashed(key, operation.session().server().hash_key), receive);
  result.statistics = operation.statistics();
  return result;
}

}  // namespace

GetResult get(const OperationContext& context, std::span<const std::byte> key) {
  std::vector<std::byte> copy;
  const auto receive = [&copy](PendingOperation& operation, std::span<const std::byte> value) {
    operation.spend(fabric::Work::copy, value.size());
    try {
      copy.assign(value.begin(), value.end());
    } catch (const std::bad_alloc&) {
      return Answer::out_of_memory;
    }
    return Answer::found;
  };
  GetResult result = get_with(context, key, receive);
  result.value = std::move(copy);
  return result;
}

GetResult get(const OperationContext& context, std::span<const std::byte> key,
              const std::function<void(std::span<const std::byte>)>& use) {
  return get_with(context, key, [&use](PendingOperation&, std::span<const std::byte> value) {
    use(value);
    return Answer::found;
  });
}

}  // namespace falafel::engine
