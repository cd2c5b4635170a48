#include "engine/client/present_value.h"

#include "engine/layout/container.h"
#include "engine/layout/expiry.h"
#include "engine/probes.h"

namespace falafel::engine {
namespace {

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

std::optional<PlaceInBuffer> place_of(PendingOperation& operation, const LoadedContainer& container,
                                      std::span<const std::byte> value) {
  if (!operation.buffers().is_in_destination(container)) return std::nullopt;
  const auto offset = static_cast<std::uint64_t>(value.data() - container.bytes().data());
  return PlaceInBuffer{.offset = offset, .length_bytes = value.size()};
}

// Returns nullopt if the value was expired and another operation changed the entry first.
std::optional<Answer> deliver_value(PendingOperation& operation, const FindResult& position,
                                    std::span<const std::byte> value, const Receive& receive) {
  const Geometry& geometry = operation.geometry();
  if (!geometry.values_expire) {
    return receive(operation,
                   {.value = value, .place = place_of(operation, position.container, value)});
  }
  if (is_expired(value, operation.host().wall_clock_ns())) {
    return remove_expired(operation, position);
  }
  operation.session().accesses().note(position.slot);
  const auto caller_part = without_expiry(geometry, value);
  return receive(operation, {.value = caller_part,
                             .expires_ns = expiry_in(value),
                             .place = place_of(operation, position.container, caller_part)});
}

}  // namespace

std::optional<Answer> read_value(PendingOperation& operation, FindResult& position,
                                 const Receive& receive) {
  const std::uint64_t length_bytes = position.header.container_bytes();
  switch (operation.load_through(position.container, length_bytes)) {
    case PendingOperation::Load::done: break;
    case PendingOperation::Load::out_of_memory: return Answer::out_of_memory;
    case PendingOperation::Load::disconnected: return Answer::disconnected;
  }
  if (const auto copied = operation.buffers().move_to_destination(position.container, length_bytes);
      copied > 0) {
    operation.spend(fabric::Work::copy, copied);
  }
  const auto bytes =
      read_container_value(position.container.bytes(), position.header, operation.verification());
  operation.spend_on_checksum(position.header.value_bytes);
  if (bytes) return deliver_value(operation, position, *bytes, receive);
  if (operation.note_bad_checksum(position.slot, position.entry)) return Answer::corrupted;
  return std::nullopt;
}

}  // namespace falafel::engine
