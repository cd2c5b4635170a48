// GET: FIND, then a READ of the value unless it came with the start of the container. The operation
// takes effect when FIND reads the entry, or, for an absent key, when all entries of its chain were
// present together. The container does not change after that while this operation lasts. If the
// location cache has the key, a READ of the entry and of the whole container precedes FIND.
#include "engine/client/get.h"

#include <new>

#include "engine/client/cached_search.h"
#include "engine/client/find.h"
#include "engine/client/pending_operation.h"
#include "engine/client/present_value.h"

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

// Takes the bytes of the value that was found. Returns `found` unless memory runs out.
using Take = std::function<Answer(PendingOperation& operation, std::span<const std::byte> value)>;

GetResult get_with(const OperationContext& context, std::span<const std::byte> key,
                   const Take& take) {
  GetResult result;
  if (key.empty() || key.size() > max_key_bytes) {
    result.answer = Answer::invalid_key;
    return result;
  }
  PendingOperation operation(context);
  operation.begin();
  result.answer = look_up(operation, hashed(key, operation.session().server().hash_key),
                          [&](const TimedValue& present) {
                            result.expires_ns = present.expires_ns;
                            return take(operation, present.value);
                          });
  result.statistics = operation.statistics();
  return result;
}

}  // namespace

GetResult get(const OperationContext& context, std::span<const std::byte> key) {
  std::vector<std::byte> copy;
  const auto take = [&copy](PendingOperation& operation, std::span<const std::byte> value) {
    operation.spend(fabric::Work::copy, value.size());
    try {
      copy.assign(value.begin(), value.end());
    } catch (const std::bad_alloc&) {
      return Answer::out_of_memory;
    }
    return Answer::found;
  };
  GetResult result = get_with(context, key, take);
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
