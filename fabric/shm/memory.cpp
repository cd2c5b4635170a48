#include "fabric/shm/memory.h"

#include <algorithm>

#include "fabric/posting_rules.h"
#include "fabric/shm/copy.h"

namespace falafel::shm {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

namespace {

// A fiber that works through memory yields once in this many accesses, so it cannot starve the
// others.
constexpr std::uint32_t accesses_per_turn = 512;

class MemoryRegion final : public fabric::MemoryRegion {
 public:
  MemoryRegion(std::shared_ptr<ProcessState> process, std::shared_ptr<MemoryBlock> block,
               const KeyTable::Region& region)
      : process_(std::move(process)), block_(std::move(block)), region_(region) {}
  ~MemoryRegion() override {
    if (key_ != no_key) process_->keys().remove(key_);
  }
  MemoryRegion(const MemoryRegion&) = delete;
  MemoryRegion& operator=(const MemoryRegion&) = delete;

  // Gives the region its key.
  Result<void> make_valid() {
    const auto key = process_->keys().add(region_);
    if (!key) return tl::unexpected(key.error());
    key_ = *key;
    return {};
  }

  std::uint32_t local_key() const override { return key_; }
  std::uint32_t remote_key() const override { return key_; }
  std::uint64_t offset() const override { return region_.offset; }
  std::uint64_t length_bytes() const override { return region_.length_bytes; }
  fabric::Access access() const override { return region_.access; }
  Result<void> change_access(fabric::Access access) override {
    if (auto checked = fabric::check_access(access); !checked) return checked;
    region_.access = access;
    if (!revoked_) process_->keys().change_access(key_, access);
    return {};
  }
  void revoke() override {
    revoked_ = true;
    process_->keys().revoke(key_);
  }

 private:
  static constexpr std::uint32_t no_key = 0;

  std::shared_ptr<ProcessState> process_;
  std::shared_ptr<MemoryBlock> block_;
  std::uint32_t key_ = no_key;
  KeyTable::Region region_;
  bool revoked_ = false;
};

}  // namespace

MemoryBlock::MemoryBlock(std::shared_ptr<ProcessState> process, fabric::FiberScheduler& scheduler,
                         std::uint64_t arena_offset, std::uint64_t size_bytes,
                         std::shared_ptr<KeptRange> kept)
    : process_(std::move(process)),
      scheduler_(scheduler),
      arena_offset_(arena_offset),
      size_bytes_(size_bytes),
      base_(process_->arena().mapping()->at(arena_offset)),
      kept_(std::move(kept)) {}

MemoryBlock::~MemoryBlock() {
  process_->release_memory(arena_offset_, size_bytes_, std::move(domains_), std::move(kept_));
}

// Removes expired domains before the list grows, so it stays within twice the number of live
// domains.
void MemoryBlock::add_domain(const std::shared_ptr<const DomainNumber>& domain) {
  if (domains_.size() == domains_.capacity()) {
    std::erase_if(domains_, [](const auto& known) { return known.expired(); });
  }
  const bool is_known =
      std::ranges::any_of(domains_, [&](const auto& known) { return known.lock() == domain; });
  if (!is_known) domains_.push_back(domain);
}

std::byte* MemoryBlock::range(std::uint64_t offset, std::uint64_t length_bytes) const {
  FALAFEL_ASSERT(length_bytes <= size_bytes_ && offset <= size_bytes_ - length_bytes,
                 "bytes {}..+{} are not within the block of {} bytes", offset, length_bytes,
                 size_bytes_);
  return base_ + offset;
}

std::byte* MemoryBlock::word(std::uint64_t offset) const {
  FALAFEL_ASSERT(offset % word_bytes == 0, "word at offset {} is not aligned", offset);
  return range(offset, word_bytes);
}

void MemoryBlock::take_turns() {
  if (++accesses_ % accesses_per_turn == 0 && scheduler_.is_running_fiber()) scheduler_.yield();
}

std::uint64_t MemoryBlock::load(std::uint64_t offset) {
  std::byte* const address = word(offset);
  take_turns();
  return load_word(address);
}

void MemoryBlock::store(std::uint64_t offset, std::uint64_t value) {
  std::byte* const address = word(offset);
  take_turns();
  store_word(address, value);
}

std::uint64_t MemoryBlock::compare_and_swap(std::uint64_t offset, std::uint64_t expected,
                                            std::uint64_t desired) {
  std::byte* const address = word(offset);
  take_turns();
  word_at(address).compare_exchange_strong(expected, desired);
  return expected;
}

void MemoryBlock::read(std::uint64_t offset, std::span<std::byte> destination) {
  std::byte* const source = range(offset, destination.size());
  take_turns();
  copy_shared(destination.data(), source, destination.size(), WholeWords::of_source);
}

void MemoryBlock::write(std::uint64_t offset, std::span<const std::byte> source) {
  std::byte* const destination = range(offset, source.size());
  take_turns();
  copy_shared(destination, const_cast<std::byte*>(source.data()), source.size(),
              WholeWords::of_destination);
}

std::uint64_t MemoryBlock::wait_until_changed(std::uint64_t offset, std::uint64_t seen,
                                              std::uint64_t deadline_ns) {
  return scheduler_.wait_until_changed(*reinterpret_cast<std::uint64_t*>(word(offset)), seen,
                                       deadline_ns);
}

Result<void> MemoryBlock::commit(std::uint64_t offset, std::uint64_t length_bytes) {
  range(offset, length_bytes);
  if (kept_ != nullptr) return kept_->commit(offset, length_bytes);
  return process_->arena().commit(arena_offset_ + offset, length_bytes);
}

// A peer may READ released memory, and its processor then may take a page again.
void MemoryBlock::release(std::uint64_t offset, std::uint64_t length_bytes) {
  range(offset, length_bytes);
  if (kept_ != nullptr) return kept_->release(offset, length_bytes);
  process_->arena().give_back_pages(arena_offset_ + offset, length_bytes);
}

Result<std::unique_ptr<fabric::MemoryRegion>> ProtectionDomain::register_memory(
    std::shared_ptr<fabric::MemoryBlock> block, std::uint64_t offset, std::uint64_t length_bytes,
    fabric::Access access) {
  auto own = std::dynamic_pointer_cast<MemoryBlock>(std::move(block));
  if (own == nullptr || &own->process() != process_.get()) {
    return make_error(
        ErrorCode::invalid_argument,
        "block: null, or from another process; use memory from this host's allocate_memory");
  }
  if (length_bytes == 0) {
    return make_error(ErrorCode::invalid_argument, "length_bytes: 0; register at least one byte");
  }
  if (auto checked = fabric::check_access(access); !checked) {
    return tl::unexpected(checked.error());
  }
  if (length_bytes > own->size_bytes() || offset > own->size_bytes() - length_bytes) {
    return make_error(ErrorCode::out_of_bounds,
                      fmt::format("bytes {}..+{} are not within the block of {} bytes", offset,
                                  length_bytes, own->size_bytes()));
  }
  const KeyTable::Region region{.domain = number_->value,
                                .block = own->arena_offset(),
                                .offset = offset,
                                .length_bytes = length_bytes,
                                .access = access};
  own->add_domain(number_);
  auto registered = std::make_unique<MemoryRegion>(process_, std::move(own), region);
  if (auto valid = registered->make_valid(); !valid) return tl::unexpected(valid.error());
  return registered;
}

}  // namespace falafel::shm
