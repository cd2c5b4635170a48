#include "engine/client/value_buffer.h"

#include <utility>

#include "engine/client/session.h"
#include "engine/layout/container.h"
#include "engine/layout/expiry.h"
#include "engine/local_memory.h"

namespace falafel::engine {

struct ValueBuffer::Memory {
  LocalMemory local;                     // its region is of the session
  std::weak_ptr<const Session> session;  // which registered it last
};

ValueBuffer::ValueBuffer(std::shared_ptr<Memory> memory, std::uint64_t offset,
                         std::uint64_t size_bytes)
    : memory_(std::move(memory)), offset_(offset), size_bytes_(size_bytes) {}

fabric::Result<ValueBuffer> ValueBuffer::allocate(const std::shared_ptr<Session>& session,
                                                  std::uint64_t size_bytes) {
  static_assert(overhead_bytes == container_header_bytes + expiry_bytes);
  auto local = allocate_local_memory(session->host(), session->domain(), size_bytes);
  if (!local) return tl::unexpected(local.error());
  return ValueBuffer(
      std::make_shared<Memory>(Memory{.local = std::move(*local), .session = session}), 0,
      size_bytes);
}

std::span<std::byte> ValueBuffer::bytes() const {
  return memory_->local.bytes(offset_, size_bytes_);
}

ValueBuffer ValueBuffer::part(std::uint64_t offset, std::uint64_t length_bytes) const {
  FALAFEL_ASSERT(offset <= size_bytes_ && length_bytes <= size_bytes_ - offset,
                 "bytes {}..+{} are not within the buffer of {} bytes", offset, length_bytes,
                 size_bytes_);
  return {memory_, offset_ + offset, length_bytes};
}

// Compares owners, because a session may have the address of one that has ended.
fabric::Result<LocalMemory> ValueBuffer::registered_for(
    const std::shared_ptr<Session>& session) const {
  const std::weak_ptr<const Session>& known = memory_->session;
  if (known.owner_before(session) || session.owner_before(known)) {
    LocalMemory& local = memory_->local;
    auto region =
        session->domain().register_memory(local.block, 0, local.size_bytes, {.local_write = true});
    if (!region) return tl::unexpected(region.error());
    local.region = std::move(*region);
    local.key = local.region->local_key();
    memory_->session = session;
  }
  return memory_->local.piece(offset_, size_bytes_);
}

}  // namespace falafel::engine
