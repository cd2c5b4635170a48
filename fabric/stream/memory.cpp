#include "fabric/stream/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "fabric/posting_rules.h"
#include "fabric/realtime/reserved_pages.h"

namespace falafel::stream {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

namespace {

class MemoryBlock final : public fabric::MemoryBlock {
 public:
  // Takes ownership of the mapping.
  MemoryBlock(fabric::FiberScheduler& scheduler, std::span<std::byte> mapping,
              std::shared_ptr<fabric::KeptFile> file = nullptr)
      : scheduler_(scheduler), mapping_(mapping), file_(std::move(file)) {}
  ~MemoryBlock() override { ::munmap(mapping_.data(), mapping_.size()); }
  MemoryBlock(const MemoryBlock&) = delete;
  MemoryBlock& operator=(const MemoryBlock&) = delete;

  std::span<std::byte> bytes() override { return mapping_; }
  std::uint64_t load(std::uint64_t offset) override { return word(offset); }
  void store(std::uint64_t offset, std::uint64_t value) override { word(offset) = value; }
  std::uint64_t compare_and_swap(std::uint64_t offset, std::uint64_t expected,
                                 std::uint64_t desired) override {
    std::uint64_t& changed = word(offset);
    return std::exchange(changed, changed == expected ? desired : changed);
  }
  void read(std::uint64_t offset, std::span<std::byte> destination) override {
    std::ranges::copy(range(offset, destination.size()), destination.begin());
  }
  void write(std::uint64_t offset, std::span<const std::byte> source) override {
    std::ranges::copy(source, range(offset, source.size()).begin());
  }
  std::uint64_t wait_until_changed(std::uint64_t offset, std::uint64_t seen,
                                   std::uint64_t deadline_ns) override {
    return scheduler_.wait_until_changed(word(offset), seen, deadline_ns);
  }
  // The system gives private memory when it is used.
  Result<void> commit(std::uint64_t offset, std::uint64_t length_bytes) override {
    range(offset, length_bytes);
    if (file_ != nullptr) return file_->commit(offset, length_bytes);
    return {};
  }
  void release(std::uint64_t offset, std::uint64_t length_bytes) override {
    const std::span<std::byte> released = range(offset, length_bytes);
    if (file_ == nullptr) fabric::give_back_pages(released);
  }

  const fabric::FiberScheduler& scheduler() const { return scheduler_; }

 private:
  std::span<std::byte> range(std::uint64_t offset, std::uint64_t length_bytes) const {
    FALAFEL_ASSERT(offset <= mapping_.size() && length_bytes <= mapping_.size() - offset,
                   "bytes {}..+{} are not within the block of {} bytes", offset, length_bytes,
                   mapping_.size());
    return mapping_.subspan(offset, length_bytes);
  }
  std::uint64_t& word(std::uint64_t offset) const {
    FALAFEL_ASSERT(offset % fabric::word_bytes == 0, "offset {} is not aligned to a word", offset);
    return *reinterpret_cast<std::uint64_t*>(range(offset, fabric::word_bytes).data());
  }

  fabric::FiberScheduler& scheduler_;
  std::span<std::byte> mapping_;
  std::shared_ptr<fabric::KeptFile> file_;  // null: the memory ends with the process
};

class MemoryRegion final : public fabric::MemoryRegion {
 public:
  MemoryRegion(std::shared_ptr<DomainState> domain, std::uint32_t key, RegisteredRange range)
      : domain_(std::move(domain)), key_(key), range_(std::move(range)) {
    domain_->regions.emplace(key_, range_);
  }
  ~MemoryRegion() override { revoke(); }
  MemoryRegion(const MemoryRegion&) = delete;
  MemoryRegion& operator=(const MemoryRegion&) = delete;

  std::uint32_t local_key() const override { return key_; }
  std::uint32_t remote_key() const override { return key_; }
  std::uint64_t offset() const override { return range_.offset; }
  std::uint64_t length_bytes() const override { return range_.length_bytes; }
  fabric::Access access() const override { return range_.access; }
  Result<void> change_access(fabric::Access access) override {
    if (Result<void> checked = fabric::check_access(access); !checked) return checked;
    range_.access = access;
    const auto registered = domain_->regions.find(key_);
    if (registered != domain_->regions.end()) registered->second.access = access;
    return {};
  }
  void revoke() override { domain_->regions.erase(key_); }

 private:
  std::shared_ptr<DomainState> domain_;
  std::uint32_t key_;
  RegisteredRange range_;
};

}  // namespace

Result<std::unique_ptr<fabric::MemoryRegion>> ProtectionDomain::register_memory(
    std::shared_ptr<fabric::MemoryBlock> block, std::uint64_t offset, std::uint64_t length_bytes,
    fabric::Access access) {
  const auto* const own = dynamic_cast<MemoryBlock*>(block.get());
  if (own == nullptr || &own->scheduler() != &scheduler_) {
    return make_error(ErrorCode::invalid_argument, "block: null, or of another host");
  }
  if (length_bytes == 0) {
    return make_error(ErrorCode::invalid_argument, "length_bytes: 0; register at least one byte");
  }
  if (Result<void> checked = fabric::check_access(access); !checked) {
    return tl::unexpected(checked.error());
  }
  const std::uint64_t size_bytes = block->bytes().size();
  if (length_bytes > size_bytes || offset > size_bytes - length_bytes) {
    return make_error(ErrorCode::out_of_bounds,
                      fmt::format("bytes {}..+{} are not within the block of {} bytes", offset,
                                  length_bytes, size_bytes));
  }
  return std::make_unique<MemoryRegion>(state_, next_key_++,
                                        RegisteredRange{.block = std::move(block),
                                                        .offset = offset,
                                                        .length_bytes = length_bytes,
                                                        .access = access});
}

Result<std::shared_ptr<fabric::MemoryBlock>> allocate_block(fabric::FiberScheduler& scheduler,
                                                            std::uint64_t size_bytes) {
  if (size_bytes == 0) {
    return make_error(ErrorCode::invalid_argument, "size_bytes: 0; ask for at least one byte");
  }
  const auto reserved = fabric::reserve_pages(size_bytes);
  if (!reserved) return tl::unexpected(reserved.error());
  return std::make_shared<MemoryBlock>(scheduler, *reserved);
}

Result<std::shared_ptr<fabric::MemoryBlock>> map_kept_block(
    fabric::FiberScheduler& scheduler, const std::shared_ptr<fabric::KeptFile>& file) {
  const auto mapped = file->map_block();
  if (!mapped) return tl::unexpected(mapped.error());
  return std::make_shared<MemoryBlock>(scheduler, std::span(*mapped, file->block_bytes()), file);
}

}  // namespace falafel::stream
