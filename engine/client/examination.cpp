#include "engine/client/examination.h"

#include <cstring>

namespace falafel::engine {
namespace {

// Clients can write containers with valid checksums and any length. Reading at most a region bounds
// the damage.
bool may_be_that_long(const Session& session, std::uint64_t offset, std::uint64_t length_bytes) {
  return length_bytes <= session.server().geometry.region_bytes &&
         offset + length_bytes <= session.server().chunk_bytes;
}

}  // namespace

std::optional<ContainerHeader> examine_header(const PendingOperation& operation,
                                              const LoadedContainer& container) {
  const auto header = read_container_header(container.bytes(), operation.verification());
  if (!header ||
      !may_be_that_long(operation.session(), container.chunk_offset, header->container_bytes())) {
    return std::nullopt;
  }
  return header;
}

Examination examine(PendingOperation& operation, std::span<const std::byte> key,
                    LoadedContainer container) {
  const auto header = examine_header(operation, container);
  if (!header) return {.result = Examined::unreadable};
  ++operation.statistics().lookups;
  operation.spend_on_checksum(container_header_bytes);
  if (header->key_bytes != key.size()) return {.result = Examined::has_other_key};
  switch (operation.load_through(container, header->key_end())) {
    case PendingOperation::Load::done: break;
    case PendingOperation::Load::out_of_memory: return {.result = Examined::out_of_memory};
    case PendingOperation::Load::disconnected: return {.result = Examined::disconnected};
  }
  const auto found = read_container_key(container.bytes(), *header, operation.verification());
  operation.spend_on_checksum(header->key_bytes);
  if (!found) return {.result = Examined::unreadable};
  if (std::memcmp(found->data(), key.data(), key.size()) != 0) {
    return {.result = Examined::has_other_key};
  }
  return {.result = Examined::has_key, .header = *header, .container = container};
}

}  // namespace falafel::engine
