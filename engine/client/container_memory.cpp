#include "engine/client/container_memory.h"

#include <utility>

namespace falafel::engine {

bool can_be_overwritten(const FindResult& position, std::uint64_t size_bytes,
                        const Geometry& geometry) {
  return position.outcome == FindOutcome::occupied && !position.entry.is_deleted() &&
         size_bytes <= geometry.round_up_to_unit(position.header.container_bytes());
}

namespace {

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

}  // namespace

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

bool was_refused_too_early(const Memory& memory, const std::optional<Answer>& answer,
                           Attempts& attempts) {
  const bool was_refused = answer == Answer::out_of_memory || answer == Answer::table_full;
  return was_refused && memory.permission == Permission::overwrite_only &&
         !std::exchange(attempts.has_tried_reserve, true);
}

}  // namespace falafel::engine
