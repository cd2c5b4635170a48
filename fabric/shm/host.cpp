#include "fabric/shm/host.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <new>

#include "fabric/shm/memory.h"
#include "fabric/shm/queue_pair.h"
#include "fabric/shm/wake.h"

namespace falafel::shm {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

Host::Host(std::shared_ptr<ProcessState> process, std::string name)
    : RealTimeHost(std::move(name), *this, process->options().spin_ns,
                   std::make_shared<fabric::DescriptorShortage>(process->options().report_failure)),
      process_(std::move(process)),
      arena_(process_->arena().mapping()),
      wake_word_(process_->next_wake_word()),
      signal_(std::make_shared<HostSignal>(arena_->object_at<WakeWord>(wake_word_))) {
  attributes_ = {.atomic_capability = fabric::AtomicCapability::global,
                 .mtu_bytes = 4096,
                 .max_message_bytes = std::numeric_limits<std::uint32_t>::max(),
                 .max_inline_bytes = 256,
                 .max_queue_requests = 16'384,
                 .max_completions = 1U << 20U,
                 .max_outstanding_reads_and_atomics = 128,
                 .max_scatter_gather_entries = most_segments,
                 .max_shared_receive_queues = 0,
                 .has_masked_atomics = true,
                 .supports_unreliable_connection = false,
                 .supports_unreliable_datagram = false,
                 .destruction_drains = false,       // nobody can stop a copy that a peer is making
                 .places_in_address_order = true};  // copy.h
}

Result<std::shared_ptr<fabric::MemoryBlock>> Host::make_block(std::uint64_t size_bytes,
                                                              Arena::Pages pages) {
  if (size_bytes == 0) {
    return make_error(ErrorCode::invalid_argument, "size_bytes: 0; ask for at least one byte");
  }
  const auto offset = process_->allocate_memory(size_bytes, pages);
  if (!offset) return tl::unexpected(offset.error());
  try {
    return std::make_shared<MemoryBlock>(process_, scheduler(), *offset, size_bytes);
  } catch (const std::bad_alloc&) {
    process_->release_memory(*offset, size_bytes, {}, nullptr);
    throw;
  }
}

Result<std::shared_ptr<fabric::MemoryBlock>> Host::map_kept(
    const std::shared_ptr<fabric::KeptFile>& file) {
  auto kept = process_->keep(file);
  if (!kept) return tl::unexpected(kept.error());
  const std::uint64_t block = (*kept)->block();
  return std::make_shared<MemoryBlock>(process_, scheduler(), block, file->block_bytes(),
                                       std::move(*kept));
}

void Host::progress() {
  if (signal_->take()) signal_waiters_.wake_all();
  // Completions wake fibers, which may close queue pairs, but only after this loop.
  for (QueuePair* queue_pair : queue_pairs_) {
    if (queue_pair->has_news()) queue_pair->progress();
  }
}

bool Host::has_news() const {
  return signal_->is_raised() || std::ranges::any_of(queue_pairs_, [](const QueuePair* queue_pair) {
           return queue_pair->has_news();
         });
}

std::uint64_t Host::next_deadline_ns() const {
  std::uint64_t deadline_ns = fabric::never_ns;
  for (const QueuePair* queue_pair : queue_pairs_) {
    deadline_ns = std::min(deadline_ns, queue_pair->next_deadline_ns());
  }
  return deadline_ns;
}

void Host::idle_until(std::uint64_t deadline_ns) {
  WakeWord& word = arena_->object_at<WakeWord>(wake_word_);
  announce_sleep(word);
  if (!has_news()) sleep(word, deadline_ns);
  end_sleep(word);
}

}  // namespace falafel::shm
