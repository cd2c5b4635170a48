// SET: FIND, then one chain with a WRITE of the container into the client's region and a
// compare-and-swap of the entry. The network executes the chain in order, so a client that sees the
// entry also sees the container. If the swap fails, SET restarts from FIND; the container is
// already in place.
//
// If the location cache has the key, the first chain swaps against the entry that the cache
// remembers, without FIND.
//
// COMPARE-AND-SET reads the value between FIND and the chain, and continues only if it is the
// expected one. The swap then succeeds only if the entry still is the word under which the value
// was read. That word does not return while the operation lasts, and a container does not change
// under it, so the value is the expected one at the moment of the swap. The operation that differs
// takes effect where a GET would.
//
// If the server has asked for the region back, a SET that lost its swap releases the memory and
// restarts with other memory, so the server waits for one attempt only.
#include "engine/client/set.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "engine/client/cached_search.h"
#include "engine/client/container_memory.h"
#include "engine/client/entry_change.h"
#include "engine/client/find.h"
#include "engine/client/pending_operation.h"
#include "engine/client/present_value.h"
#include "engine/layout/expiry.h"
#include "engine/layout/references.h"
#include "engine/probes.h"

namespace falafel::engine {
namespace {

struct SetTask {
  HashedKey key{};
  std::span<const std::byte> value{};
  std::uint64_t expires_ns = never_expires;
  // null: SET
  const Condition* condition = nullptr;
  // The new value expires when the one that it replaces would have.
  bool keeps_expiry = false;

  std::uint64_t length_bytes(const Geometry& geometry) const {
    return container_bytes(key.bytes.size(), geometry.value_prefix_bytes() + value.size());
  }
};

// Puts the container into the buffer from which it is written.
void prepare_container(PendingOperation& operation, const SetTask& task, std::uint64_t expires_ns) {
  const Geometry& geometry = operation.geometry();
  const std::uint64_t length_bytes = task.length_bytes(geometry);
  write_container(task.key.bytes, task.value, operation.buffers().outgoing(length_bytes),
                  expiry_prefix(geometry, expires_ns));
  operation.spend(fabric::Work::checksum, length_bytes);
  operation.spend(fabric::Work::copy, length_bytes);
}

class SetOperation {
 public:
  SetOperation(PendingOperation& operation, const SetTask& task, const Memory& memory)
      : operation_(operation),
        task_(task),
        allocation_(memory.allocation),
        length_bytes_(task.length_bytes(operation.geometry())),
        permission_(memory.permission),
        cached_(operation, task.key),
        change_(operation) {}

  // Returns nullopt if nothing has changed and the server wants the memory back.
  std::optional<Answer> run();

 private:
  std::optional<Answer> wait_for_slot(const FindResult& position);
  // These return nullopt if the operation has to restart.
  std::optional<Answer> change_entry(FindResult& position);
  std::optional<Answer> compare(FindResult& position);
  std::optional<Answer> point_entry_to_container(const FindResult& position);
  // `replaced_bytes`: the length of the container that the entry has pointed to; 0: none.
  Swap write_and_swap(std::uint64_t slot, Entry expected, std::uint64_t replaced_bytes);
  bool may_use_cache() const {
    return permission_ == Permission::any_change && !is_conditional() &&
           cached_.location().has_value();
  }
  bool is_conditional() const { return task_.condition != nullptr; }
  Entry successor(Entry expected) const;
  bool may_change(const FindResult& position) const;

  PendingOperation& operation_;
  const SetTask& task_;
  const Allocation& allocation_;
  std::uint64_t length_bytes_;
  Permission permission_;
  CachedSearch cached_;
  EntryChange change_;
  bool written_ = false;
  bool has_waited_for_slot_ = false;
};

std::optional<Answer> SetOperation::run() {
  std::optional<FindResult> known;
  if (may_use_cache()) {
    const auto answer = change_.swap_cached(
        cached_, Answer::stored,
        [&](const Location& location) {
          return write_and_swap(location.slot, location.entry, location.container_bytes);
        },
        known);
    if (answer) return answer;
  }
  for (;; known.reset()) {
    FindResult position = known ? *known : find(operation_, task_.key);
    std::optional<Answer> answer;
    switch (position.outcome) {
      case FindOutcome::occupied:
      case FindOutcome::empty: answer = change_entry(position); break;
      case FindOutcome::corrupted:
        if (is_conditional()) return Answer::corrupted;
        answer = may_change(position) ? change_.remove_damaged(position) : Answer::out_of_memory;
        break;
      case FindOutcome::table_walked:
        if (is_conditional() && !task_.condition->permits_absence()) return Answer::differs;
        if (const auto refusal = wait_for_slot(position)) return change_.without_effect(*refusal);
        operation_.restart();
        continue;
      case FindOutcome::out_of_memory: return Answer::out_of_memory;
      case FindOutcome::timed_out: return change_.without_effect(Answer::timed_out);
      case FindOutcome::disconnected: return change_.without_effect(Answer::disconnected);
    }
    if (answer) return *answer;
    operation_.restart();
    const bool is_wanted_back = operation_.regions().is_wanted_back(allocation_);
    if (is_wanted_back && !change_.has_removed_damaged()) return std::nullopt;
  }
}

std::optional<Answer> SetOperation::change_entry(FindResult& position) {
  if (is_conditional()) {
    const auto compared = compare(position);
    if (compared != Answer::found) return compared;
  }
  return may_change(position) ? point_entry_to_container(position) : Answer::out_of_memory;
}

// Returns `found` if the key meets the condition.
std::optional<Answer> SetOperation::compare(FindResult& position) {
  const Condition& condition = *task_.condition;
  const bool is_present = position.outcome == FindOutcome::occupied && !position.entry.is_deleted();
  if (!is_present) return condition.permits_absence() ? Answer::found : Answer::differs;
  const auto answer =
      read_value(operation_, position, [&](PendingOperation&, const TimedValue& present) {
        if (!condition.permits(present.value)) return Answer::differs;
        if (task_.keeps_expiry && operation_.geometry().values_expire) {
          prepare_container(operation_, task_, present.expires_ns);
          written_ = false;
        }
        return Answer::found;
      });
  if (answer != Answer::not_found) return answer;
  // The value had expired, and its entry has changed.
  return condition.permits_absence() ? std::nullopt : std::optional(Answer::differs);
}

bool SetOperation::may_change(const FindResult& position) const {
  return permission_ == Permission::any_change ||
         can_be_overwritten(position, allocation_.size_bytes, operation_.geometry());
}

// A cleanup turns slots of deleted entries into empty ones, and a cache evicts values before it if
// there are none. If the table can grow, the server begins another one instead. Returns nullopt if
// it did one of these. SET requests a cleanup at most once when the table can grow no more.
std::optional<Answer> SetOperation::wait_for_slot(const FindResult& position) {
  const bool has_removable = position.met_deleted || operation_.geometry().values_expire;
  // The key to be overwritten has vanished, and the SET was denied other memory.
  const bool may_only_overwrite = permission_ == Permission::overwrite_only;
  if (may_only_overwrite && position.may_grow) return Answer::out_of_memory;
  const bool may_clean = has_removable && !has_waited_for_slot_;
  const bool may_help = permission_ == Permission::any_change && (may_clean || position.may_grow);
  if (!may_help) return Answer::table_full;
  has_waited_for_slot_ = !position.may_grow;
  operation_.count(probes::cleanup_requested);
  operation_.forget();
  const auto absence = operation_.leave_gathering();
  Session& session = operation_.session();
  return session.cleanups().wait(session.options().server_timeout_ns);
}

Entry SetOperation::successor(Entry expected) const {
  const Geometry& geometry = operation_.geometry();
  const Entry entry = expected.pointing_to(
      References(geometry).to(allocation_.offset, task_.key.hash, length_bytes_));
  return operation_.safeguards().tag_discipline ? entry.with_next_tag(geometry.tag_bits) : entry;
}

std::optional<Answer> SetOperation::point_entry_to_container(const FindResult& position) {
  const bool replaces = position.outcome == FindOutcome::occupied && !position.entry.is_deleted();
  const std::uint64_t replaced_bytes = replaces ? position.header.container_bytes() : 0;
  if (position.is_in_later_table) operation_.count(probes::insertion_in_later_table);
  return change_.swap(
      position.entry, Answer::stored,
      [&](Entry expected) { return write_and_swap(position.slot, expected, replaced_bytes); },
      [this](Entry word) { return !word.is_locked() && !is_conditional(); });
}

// The container is written once, with the first swap. The server need not know of a value that is
// as long as before.
Swap SetOperation::write_and_swap(std::uint64_t slot, Entry expected,
                                  std::uint64_t replaced_bytes) {
  std::array<fabric::WorkRequest, 2> chain;
  std::size_t requests = 0;
  if (!written_) {
    chain[requests++] = operation_.buffers().write_container(allocation_.offset,
                                                             allocation_.remote_key, length_bytes_);
  }
  chain[requests++] = operation_.buffers().swap_entry(slot, expected, successor(expected));
  const Swap result = operation_.post_swap(std::span(chain).first(requests), expected);
  written_ = result == Swap::won || result == Swap::lost;
  if (result != Swap::won) return result;
  cached_.remember(slot, successor(expected), length_bytes_);
  const std::uint64_t freed_bytes = replaced_bytes - std::min(replaced_bytes, length_bytes_);
  if (freed_bytes > 0) operation_.regions().note_freed(freed_bytes);
  return result;
}

// One attempt with one allocation. Returns nullopt if the SET has to try again with another.
std::optional<Answer> set_once(PendingOperation& operation, const SetTask& task,
                               Attempts& attempts) {
  RegionAllocator& regions = operation.regions();
  const std::uint64_t size_bytes =
      operation.geometry().round_up_to_unit(task.length_bytes(operation.geometry()));
  const bool may_wait = !regions.has_room(size_bytes);
  tl::expected<Memory, Answer> memory =
      may_wait
          ? find_memory(operation, task.key, size_bytes, attempts)
          : regions.allocate(size_bytes, fabric::never_ns).map([](const Allocation& allocation) {
              return Memory{.allocation = allocation};
            });
  if (!memory) return memory.error();
  Place place(regions, memory->allocation);
  if (may_wait) operation.let_others_return();
  operation.begin();
  const auto answer = SetOperation(operation, task, *memory).run();
  const bool may_be_published = answer == Answer::stored || answer == Answer::unknown_outcome;
  operation.forget();
  if (may_be_published) return place.publish(answer);
  const bool tries_again = was_refused_too_early(*memory, answer, attempts);
  return place.give_back(tries_again ? std::nullopt : answer);
}

Answer set_value(PendingOperation& operation, const SetTask& task) {
  if (!operation.buffers().prepare_outgoing(task.length_bytes(operation.geometry()))) {
    return Answer::out_of_memory;
  }
  prepare_container(operation, task, task.expires_ns);
  for (Attempts attempts;;) {
    if (const auto answer = set_once(operation, task, attempts)) return *answer;
  }
}

// Returns the refusal of a SET that no store could carry out.
std::optional<Answer> find_refusal(const ServerMemory& server, std::span<const std::byte> key,
                                   std::size_t value_bytes, bool expires) {
  if (key.empty() || key.size() > max_key_bytes) return Answer::invalid_key;
  if (expires && !server.geometry.values_expire) return Answer::not_a_cache;
  const std::uint64_t prefix_bytes = server.geometry.value_prefix_bytes();
  const bool is_too_large =
      value_bytes > max_value_bytes - prefix_bytes ||
      container_bytes(key.size(), prefix_bytes + value_bytes) > server.largest_container_bytes;
  return is_too_large ? std::optional(Answer::value_too_large) : std::nullopt;
}

// Carries out the SET of a task without an expiry.
SetResult perform(const OperationContext& context, std::span<const std::byte> key, SetTask task,
                  std::uint64_t time_to_live_ns) {
  const ServerMemory& server = context.session->server();
  SetResult result;
  if (const auto refusal = find_refusal(server, key, task.value.size(), time_to_live_ns > 0)) {
    result.answer = *refusal;
    return result;
  }
  PendingOperation operation(context);
  task.key = hashed(key, server.hash_key);
  if (time_to_live_ns > 0) {
    task.expires_ns = expiry_of(operation.host().wall_clock_ns(), time_to_live_ns);
  }
  result.answer = set_value(operation, task);
  result.host_lacks_memory =
      result.answer == Answer::out_of_memory && operation.buffers().host_lacks_memory();
  result.statistics = operation.statistics();
  return result;
}

}  // namespace

SetResult set(const OperationContext& context, std::span<const std::byte> key,
              std::span<const std::byte> value, std::uint64_t time_to_live_ns) {
  return perform(context, key, {.value = value}, time_to_live_ns);
}

SetResult compare_and_set(const OperationContext& context, std::span<const std::byte> key,
                          const Condition& condition, std::span<const std::byte> value,
                          const std::optional<std::uint64_t>& time_to_live_ns) {
  return perform(
      context, key,
      {.value = value, .condition = &condition, .keeps_expiry = !time_to_live_ns.has_value()},
      time_to_live_ns.value_or(0));
}

}  // namespace falafel::engine
