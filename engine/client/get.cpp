// GET: FIND, then a READ of the value unless it came with the start of the container. The operation
// takes effect when FIND reads the entry, or, for an absent key, when all entries of its chain were
// present together. The container does not change after that while this operation lasts. If the
// location cache has the key, a READ of the entry and of the whole container precedes FIND.
#include "engine/client/get.h"

#include <new>
#include <utility>

#include "engine/client/cached_search.h"
#include "engine/client/find.h"
#include "engine/client/pending_operation.h"
#include "engine/client/present_value.h"
#include "engine/local_memory.h"

namespace falafel::engine {
namespace {

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
    operation.restart();
  }
}

// `destination`: of the caller, and moved from; or null. `receive` takes the value that was found,
// and returns `found` unless memory runs out.
void get_with(const OperationContext& context, std::span<const std::byte> key,
              LocalMemory* destination, const Receive& receive, GetResult& result) {
  if (key.empty() || key.size() > max_key_bytes) {
    result.answer = Answer::invalid_key;
    return;
  }
  PendingOperation operation(context);
  if (destination != nullptr) operation.buffers().set_destination(std::move(*destination));
  operation.begin();
  result.answer = look_up(operation, hashed(key, operation.session().server().hash_key), receive);
  result.statistics = operation.statistics();
}

auto copy_to(GetResult& result) {
  return [&result](PendingOperation& operation, const TimedValue& present) {
    operation.spend(fabric::Work::copy, present.value.size());
    try {
      result.value.assign(present.value.begin(), present.value.end());
    } catch (const std::bad_alloc&) {
      return Answer::out_of_memory;
    }
    result.expires_ns = present.expires_ns;
    return Answer::found;
  };
}

}  // namespace

GetResult get(const OperationContext& context, std::span<const std::byte> key) {
  GetResult result;
  get_with(context, key, nullptr, copy_to(result), result);
  return result;
}

GetResult get(const OperationContext& context, std::span<const std::byte> key,
              const ValueBuffer& buffer) {
  GetResult result;
  auto destination = buffer.registered_for(context.session);
  if (!destination) {
    FALAFEL_ASSERT(destination.error().code == fabric::ErrorCode::out_of_memory, "{}",
                   destination.error().detail);
    result.answer = Answer::out_of_memory;
    return result;
  }
  const auto copy = copy_to(result);
  const auto receive = [&](PendingOperation& operation, const TimedValue& present) {
    if (!present.place) return copy(operation, present);
    result.place = present.place;
    result.expires_ns = present.expires_ns;
    return Answer::found;
  };
  get_with(context, key, &*destination, receive, result);
  return result;
}

GetResult get(const OperationContext& context, std::span<const std::byte> key,
              const std::function<void(std::span<const std::byte>)>& use) {
  GetResult result;
  const auto receive = [&](PendingOperation& /*operation*/, const TimedValue& present) {
    result.expires_ns = present.expires_ns;
    use(present.value);
    return Answer::found;
  };
  get_with(context, key, nullptr, receive, result);
  return result;
}

}  // namespace falafel::engine
