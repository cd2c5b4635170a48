#include "engine/client/operation_slots.h"

#include <algorithm>

namespace falafel::engine {
namespace {

constexpr std::uint64_t line_bytes = 64;  // a cache line; slots share none

}  // namespace

fabric::Result<void> OperationSlots::prepare(fabric::ProtectionDomain& domain,
                                             const ClientOptions& options,
                                             const Geometry& geometry) {
  const ReadaheadOptions& readahead = options.readahead;
  const std::uint64_t longest_table = geometry.entries_of(geometry.most_tables - 1);
  chunk_entries_ = std::min<std::uint64_t>(readahead.chunk_entries, longest_table);
  const std::uint64_t chunks = geometry.fingerprint_bits > 0 ? 2 : 1;
  longest_request_bytes_ = host_.device(options.device_index).attributes().max_message_bytes;
  entries_per_buffer_ =
      std::min({chunks * chunk_entries_, longest_table, longest_request_bytes_ / entry_bytes});
  const std::uint64_t size_bytes = fabric::word_bytes + 2 * entries_per_buffer_ * entry_bytes +
                                   std::uint64_t{readahead.containers} * readahead.container_bytes;
  const std::uint64_t distance_bytes = (size_bytes + line_bytes - 1) / line_bytes * line_bytes;
  slots_.resize(options.max_operations_in_flight);
  auto memory = allocate_local_memory(host_, domain, slots_.size() * distance_bytes);
  if (!memory) return tl::unexpected(memory.error());
  for (std::size_t index = 0; index < slots_.size(); ++index) {
    slots_[index].fixed = memory->piece(index * distance_bytes, size_bytes);
  }
  return {};
}

bool OperationSlots::has_free() const {
  return std::ranges::any_of(slots_, [](const OperationSlot& slot) { return !slot.busy; });
}

std::size_t OperationSlots::take() {
  for (;;) {
    const auto free =
        std::ranges::find_if(slots_, [](const OperationSlot& slot) { return !slot.busy; });
    if (free != slots_.end()) {
      free->busy = true;
      return static_cast<std::size_t>(free - slots_.begin());
    }
    free_->wait(fabric::never_ns);
  }
}

void OperationSlots::give_back(std::size_t slot) {
  FALAFEL_ASSERT(slots_[slot].busy, "slot {} was given back twice", slot);
  slots_[slot].busy = false;
  if (slots_[slot].destination.block != nullptr) slots_[slot].destination = {};
  free_->notify_all();
}

}  // namespace falafel::engine
