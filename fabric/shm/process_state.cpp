#include "fabric/shm/process_state.h"

#include <algorithm>
#include <bit>
#include <new>

#include "fabric/shm/life_sign.h"

namespace falafel::shm {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

ProcessState::ProcessState(const ProcessOptions& options, std::unique_ptr<Arena> arena)
    : options_(options),
      arena_(std::move(arena)),
      keys_(*arena_),
      work_(boost::asio::make_work_guard(context_)),
      thread_([this] {
        const LifeSign life(arena_->mapping()->header().life);
        context_.run();
      }) {}

ProcessState::~ProcessState() {
  context_.stop();
  thread_.join();
  undrained_.clear();
}

std::uint64_t ProcessState::next_wake_word() {
  return wake_word_table_offset + wake_words_++ % max_wake_words * sizeof(WakeWord);
}

Result<std::unique_ptr<OwnEndpoint>> ProcessState::make_endpoint(
    const fabric::QueuePairOptions& options, std::shared_ptr<const DomainNumber> domain,
    std::uint64_t wake_word, std::optional<pid_t> caller) {
  const std::uint32_t slots = std::bit_ceil(options.max_receive_requests);
  const std::uint32_t further_segments = options.max_receive_segments - 1;
  const std::uint64_t slot_bytes = sizeof(ReceiveSlot) + further_segments * sizeof(ReceiveSegment);
  const std::uint64_t size_bytes = sizeof(Endpoint) + slots * slot_bytes;
  std::unique_ptr<GateInFile> gate;
  if (caller) {
    auto taken = take_gate(*caller);
    if (!taken) return tl::unexpected(taken.error());
    gate = std::move(*taken);
  }
  const auto offset = arena_->allocate(size_bytes);
  if (!offset) return tl::unexpected(offset.error());
  FALAFEL_ASSERT(*offset % alignof(Endpoint) == 0, "an endpoint was allocated at offset {}",
                 *offset);
  auto* endpoint = new (arena_->mapping()->at(*offset)) Endpoint{};
  endpoint->domain = domain->value;
  endpoint->wake_word = wake_word;
  endpoint->slot_mask = slots - 1;
  endpoint->further_segments = further_segments;
  endpoint->own_gate.state.store(GateState::ready);
  endpoint->gate = gate != nullptr ? gate->offset() : *offset + offsetof(Endpoint, own_gate);
  try {
    return std::make_unique<OwnEndpoint>(*this, std::move(domain), *offset, size_bytes,
                                         std::move(gate));
  } catch (const std::bad_alloc&) {
    arena_->release(*offset, size_bytes);
    throw;
  }
}

// Returns null if this process keeps no memory.
Result<std::unique_ptr<GateInFile>> ProcessState::take_gate(pid_t caller) {
  std::shared_ptr<KeptRange> kept;
  {
    const std::lock_guard lock(mutex_);
    kept = kept_.lock();
  }
  if (kept == nullptr) return nullptr;
  return GateInFile::take(std::move(kept), fabric::identity_of(caller));
}

Result<std::shared_ptr<KeptRange>> ProcessState::keep(
    const std::shared_ptr<fabric::KeptFile>& file) {
  auto made = KeptRange::create(*arena_, file);
  if (!made) return made;
  const std::lock_guard lock(mutex_);
  kept_ = *made;
  return made;
}

Result<std::shared_ptr<MappedArena>> ProcessState::map_peer(const ArenaId& id,
                                                            const FileDescriptor& file,
                                                            const Overlay& kept,
                                                            const FileDescriptor& kept_file) {
  if (id == arena_->mapping()->header().id) return arena_->mapping();
  const std::lock_guard lock(mutex_);
  std::erase_if(peers_, [](const auto& peer) { return peer.second.expired(); });
  if (const auto found = peers_.find({id, kept.begin}); found != peers_.end()) {
    if (auto mapped = found->second.lock()) return mapped;
  }
  auto mapped = MappedArena::map(file);
  if (!mapped) return mapped;
  const ArenaHeader& header = (*mapped)->header();
  if (header.magic != layout_magic || header.version != layout_version || header.id != id) {
    return make_error(ErrorCode::invalid_argument,
                      "the peer's shared memory has another version or identity; use the same "
                      "release on both sides");
  }
  if (kept.begin != 0) {
    if (auto laid = (*mapped)->lay_over(kept, kept_file); !laid)
      return tl::unexpected(laid.error());
  }
  peers_[{id, kept.begin}] = *mapped;
  return mapped;
}

void ProcessState::retire(const std::shared_ptr<Link>& link) noexcept {
  if (link->is_drained()) return;
  const std::lock_guard lock(mutex_);
  link->append_to(undrained_);
}

void ProcessState::release_what_is_drained() {
  std::erase_if(undrained_, [](const std::shared_ptr<Link>& link) { return link->is_drained(); });
  std::erase_if(quarantine_, [this](const Range& range) {
    if (is_within_reach(range)) return false;
    if (range.kept == nullptr) arena_->release(range.offset, range.size_bytes);
    return true;
  });
}

bool ProcessState::is_within_reach(const Range& range) const {
  return std::ranges::any_of(range.domains, [this](const auto& domain) {
    const auto alive = domain.lock();
    return alive != nullptr &&
           std::ranges::find(undrained_, alive, &Link::domain) != undrained_.end();
  });
}

void ProcessState::release_memory(std::uint64_t offset, std::uint64_t size_bytes,
                                  std::vector<std::weak_ptr<const DomainNumber>> domains,
                                  std::shared_ptr<KeptRange> kept) noexcept {
  const std::lock_guard lock(mutex_);
  release_what_is_drained();
  Range range{.offset = offset,
              .size_bytes = size_bytes,
              .domains = std::move(domains),
              .kept = std::move(kept)};
  if (!is_within_reach(range)) {
    if (range.kept == nullptr) arena_->release(offset, size_bytes);
    return;
  }
  try {
    quarantine_.push_back(std::move(range));
  } catch (const std::bad_alloc&) {
    // Nobody remembers the memory, so it is not used again.
    if (range.kept != nullptr) range.kept->abandon();
  }
}

Result<std::uint64_t> ProcessState::allocate_memory(std::uint64_t size_bytes, Arena::Pages pages) {
  {
    const std::lock_guard lock(mutex_);
    release_what_is_drained();
  }
  return arena_->allocate(size_bytes, pages);
}

}  // namespace falafel::shm
