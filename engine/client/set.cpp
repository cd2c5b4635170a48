// SET: FIND, then one chain with a WRITE of the container into the client's region and a
// compare-and-swap of the entry. The network executes the chain in order, so a client that sees the
// entry also sees the container. If the swap fails, SET restarts from FIND; the container is
// already in place.
//
// SET allocates memory before FIND, although it needs the memory only afterwards. An allocation may
// wait for the server, and the server may wait until no operation remembers what it read.
//
// If the location cache has the key, the first chain swaps against the entry that the cache
// remembers, without FIND.
//
// If there is no memory, an existing key can still receive a value whose container is not larger
// than the old one. SET finds the key, discards what it read, and allocates memory from the
// server's reserve for overwriting. While the server is known to be short of memory, SET begins
// with that.
//
// If the server has asked for the region back, a SET that lost its swap releases the memory and
// restarts with other memory, so the server waits for one attempt only.
#include "engine/client/set.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "engine/client/cached_search.h"
#include "engine/client/entry_change.h"
#include "engine/client/find.h"
#include "engine/client/pending_operation.h"
#include "engine/layout/expiry.h"
#include "engine/layout/references.h"
#include "engine/probes.h"

namespace falafel::engine {
namespace {

// The memory of the container. The operation keeps it, gives it back or, if the fiber is cancelled,
// abandons it, because requests in flight may still refer to it.
class Place {
 public:
  Place(RegionAllocator& regions, const Allocation& allocation)
      : regions_(regions), allocation_(allocation) {}
  ~Place() {
    if (!over_) regions_.abandon(allocation_);
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  std::optional<Answer> publish(std::optional<Answer> answer) {
    over_ = true;
    regions_.finish(allocation_);
    return answer;
  }
  std::optional<Answer> give_back(std::optional<Answer> answer) {
    over_ = true;
    regions_.give_back(allocation_);
    return answer;
  }

 private:
  RegionAllocator& regions_;
  Allocation allocation_;
  bool over_ = false;
};

// The changes that a SET may make in the table.
enum class Permission : std::uint8_t { any_change, overwrite_only };

// Returns whether a container of this length may replace the one that was found.
bool can_be_overwritten(const FindResult& position, std::uint64_t size_bytes,
                        const Geometry& geometry) {
  return position.outcome == FindOutcome::occupied && !position.entry.is_deleted() &&
         size_bytes <= geometry.round_up_to_unit(position.header.container_bytes());
}

class SetOperation {
 public:
  SetOperation(PendingOperation& operation, const HashedKey& key, const Allocation& allocation,
               std::uint64_t length_bytes, Permission permission)
      : operation_(operation),
        key_(key),
        allocation_(allocation),
        length_bytes_(length_bytes),
        permission_(permission),
        cached_(operation, key),
        change_(operation) {}

  // Returns nullopt if nothing has changed and the server wants the memory back.
  std::optional<Answer> run();

 private:
  std::optional<Answer> wait_for_slot(const FindResult& position);
  // Returns nullopt if the operation has to restart.
  std::optional<Answer> point_entry_to_container(const FindResult& position);
  // `replaced_bytes`: the length of the container that the entry has pointed to; 0: none.
  Swap write_and_swap(std::uint64_t slot, Entry expected, std::uint64_t replaced_bytes);
  bool may_use_cache() const {
    return permission_ == Permission::any_change && cached_.location().has_value();
  }
  Entry successor(Entry expected) const;
  bool may_change(const FindResult& position) const;

  PendingOperation& operation_;
  HashedKey key_;
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
    const FindResult position = known ? *known : find(operation_, key_);
    std::optional<Answer> answer;
    switch (position.outcome) {
      case FindOutcome::occupied:
      case FindOutcome::empty:
        answer = may_change(position) ? point_entry_to_container(position) : Answer::out_of_memory;
        break;
      case FindOutcome::corrupted:
        answer = may_change(position) ? change_.remove_damaged(position) : Answer::out_of_memory;
        break;
      case FindOutcome::table_walked:
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
  const Entry entry =
      expected.pointing_to(References(geometry).to(allocation_.offset, key_.hash, length_bytes_));
  return operation_.safeguards().tag_discipline ? entry.with_next_tag(geometry.tag_bits) : entry;
}

std::optional<Answer> SetOperation::point_entry_to_container(const FindResult& position) {
  const bool replaces = position.outcome == FindOutcome::occupied && !position.entry.is_deleted();
  const std::uint64_t replaced_bytes = replaces ? position.header.container_bytes() : 0;
  if (position.is_in_later_table) operation_.count(probes::insertion_in_later_table);
  return change_.swap(
      position.entry, Answer::stored,
      [&](Entry expected) { return write_and_swap(position.slot, expected, replaced_bytes); },
      [](Entry word) { return !word.is_locked(); });
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

// The container's length in memory.
std::uint64_t outgoing_size_bytes(const PendingOperation& operation, std::uint64_t length_bytes) {
  return operation.geometry().round_up_to_unit(length_bytes);
}

// Returns whether the SET may use the reserve. An error: FIND has not found it out.
tl::expected<bool, Answer> has_value_of_that_length(PendingOperation& operation,
                                                    const HashedKey& key,
                                                    std::uint64_t size_bytes) {
  operation.begin();
  const FindResult position = find(operation, key);
  operation.forget();
  switch (position.outcome) {
    case FindOutcome::timed_out: return tl::unexpected(Answer::timed_out);
    case FindOutcome::disconnected: return tl::unexpected(Answer::disconnected);
    case FindOutcome::out_of_memory: return tl::unexpected(Answer::out_of_memory);
    case FindOutcome::occupied:
    case FindOutcome::empty:
    case FindOutcome::corrupted:
    case FindOutcome::table_walked: break;
  }
  return can_be_overwritten(position, size_bytes, operation.geometry());
}

// The attempts of a SET share this.
struct Attempts {
  // The SET does not wait for memory after this time.
  std::optional<std::uint64_t> deadline_ns{};
  // The SET has tried to overwrite before it was denied other memory.
  bool has_tried_reserve = false;
};

struct Memory {
  Allocation allocation{};
  Permission permission = Permission::any_change;
};

// These wait for the server.
tl::expected<Memory, Answer> allocate(PendingOperation& operation, std::uint64_t size_bytes,
                                      std::uint64_t deadline_ns) {
  const auto absence = operation.leave_gathering();
  const auto allocation = operation.regions().allocate(size_bytes, deadline_ns);
  if (!allocation) return tl::unexpected(allocation.error());
  return Memory{.allocation = *allocation};
}

tl::expected<Memory, Answer> allocate_for_overwrite(PendingOperation& operation,
                                                    std::uint64_t size_bytes,
                                                    std::uint64_t deadline_ns) {
  const auto absence = operation.leave_gathering();
  const auto allocation = operation.regions().allocate_for_overwrite(size_bytes, deadline_ns);
  if (!allocation) return tl::unexpected(allocation.error());
  return Memory{.allocation = *allocation, .permission = Permission::overwrite_only};
}

// While the server is short of memory, a SET that overwrites does not wait for what others need.
tl::expected<Memory, Answer> find_memory(PendingOperation& operation, const HashedKey& key,
                                         std::uint64_t size_bytes, Attempts& attempts) {
  RegionAllocator& regions = operation.regions();
  if (!attempts.deadline_ns) attempts.deadline_ns = regions.deadline_ns();
  const std::uint64_t deadline_ns = *attempts.deadline_ns;
  const auto is_denied = [](const tl::expected<Memory, Answer>& memory) {
    return !memory && memory.error() == Answer::out_of_memory;
  };
  if (regions.is_short() && !attempts.has_tried_reserve) {
    const auto overwrites = has_value_of_that_length(operation, key, size_bytes);
    if (!overwrites) return tl::unexpected(overwrites.error());
    if (*overwrites) {
      auto memory = allocate_for_overwrite(operation, size_bytes, deadline_ns);
      if (!is_denied(memory)) return memory;
    }
  }
  attempts.has_tried_reserve = true;
  auto memory = allocate(operation, size_bytes, deadline_ns);
  if (!is_denied(memory)) return memory;
  const auto overwrites = has_value_of_that_length(operation, key, size_bytes);
  if (!overwrites) return tl::unexpected(overwrites.error());
  return *overwrites ? allocate_for_overwrite(operation, size_bytes, deadline_ns) : memory;
}

// The key has changed since the SET looked for it, so it may need other memory.
bool was_refused_too_early(const Memory& memory, const std::optional<Answer>& answer,
                           Attempts& attempts) {
  const bool was_refused = answer == Answer::out_of_memory || answer == Answer::table_full;
  return was_refused && memory.permission == Permission::overwrite_only &&
         !std::exchange(attempts.has_tried_reserve, true);
}

// One attempt with one allocation. Returns nullopt if the SET has to try again with another.
std::optional<Answer> set_once(PendingOperation& operation, const HashedKey& key,
                               std::uint64_t length_bytes, Attempts& attempts) {
  RegionAllocator& regions = operation.regions();
  const std::uint64_t size_bytes = outgoing_size_bytes(operation, length_bytes);
  const bool may_wait = !regions.has_room(size_bytes);
  tl::expected<Memory, Answer> memory =
      may_wait
          ? find_memory(operation, key, size_bytes, attempts)
          : regions.allocate(size_bytes, fabric::never_ns).map([](const Allocation& allocation) {
              return Memory{.allocation = allocation};
            });
  if (!memory) return memory.error();
  Place place(regions, memory->allocation);
  if (may_wait) operation.let_others_return();
  operation.begin();
  const auto answer =
      SetOperation(operation, key, memory->allocation, length_bytes, memory->permission).run();
  const bool may_be_published = answer == Answer::stored || answer == Answer::unknown_outcome;
  operation.forget();
  if (may_be_published) return place.publish(answer);
  const bool tries_again = was_refused_too_early(*memory, answer, attempts);
  return place.give_back(tries_again ? std::nullopt : answer);
}

Answer set_value(PendingOperation& operation, std::span<const std::byte> key,
                 std::span<const std::byte> value, std::uint64_t time_to_live_ns) {
  const Geometry& geometry = operation.geometry();
  const std::uint64_t expiry_ns =
      time_to_live_ns == 0 ? never_expires
                           : expiry_of(operation.host().wall_clock_ns(), time_to_live_ns);
  const std::span<const std::byte> prefix = expiry_prefix(geometry, expiry_ns);
  const std::uint64_t length_bytes = container_bytes(key.size(), prefix.size() + value.size());
  if (!operation.buffers().prepare_outgoing(length_bytes)) return Answer::out_of_memory;
  write_container(key, value, operation.buffers().outgoing(length_bytes), prefix);
  operation.spend(fabric::Work::checksum, length_bytes);
  operation.spend(fabric::Work::copy, length_bytes);
  const HashedKey hashed_key = hashed(key, operation.session().server().hash_key);
  for (Attempts attempts;;) {
    if (const auto answer = set_once(operation, hashed_key, length_bytes, attempts)) return *answer;
  }
}

}  // namespace

SetResult set(const OperationContext& context, std::span<const std::byte> key,
              std::span<const std::byte> value, std::uint64_t time_to_live_ns) {
  const ServerMemory& server = context.session->server();
  SetResult result;
  if (key.empty() || key.size() > max_key_bytes) {
    result.answer = Answer::invalid_key;
    return result;
  }
  if (time_to_live_ns > 0 && !server.geometry.values_expire) {
    result.answer = Answer::not_a_cache;
    return result;
  }
  const std::uint64_t prefix_bytes = server.geometry.value_prefix_bytes();
  if (value.size() > max_value_bytes - prefix_bytes ||
      container_bytes(key.size(), prefix_bytes + value.size()) > server.largest_container_bytes) {
    result.answer = Answer::value_too_large;
    return result;
  }
  PendingOperation operation(context);
  result.answer = set_value(operation, key, value, time_to_live_ns);
  result.host_lacks_memory =
      result.answer == Answer::out_of_memory && operation.buffers().host_lacks_memory();
  result.statistics = operation.statistics();
  return result;
}

}  // namespace falafel::engine
