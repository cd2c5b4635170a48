#include "fabric/verbs/memory.h"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "fabric/posting_rules.h"
#include "fabric/realtime/reserved_pages.h"
#include "fabric/verbs/access_flags.h"
#include "fabric/verbs/paging.h"

namespace falafel::verbs {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

namespace {

struct Range {
  std::uint64_t offset = 0;
  std::uint64_t length_bytes = 0;

  friend bool operator==(const Range&, const Range&) = default;
};

bool overlap(const Range& left, const Range& right) {
  return left.offset < right.offset + right.length_bytes &&
         right.offset < left.offset + left.length_bytes;
}

// The system provides the memory of a block at the first use, or when the block commits it.
enum class Pages : std::uint8_t { at_use, at_commit };

class MemoryBlock final : public fabric::MemoryBlock {
 public:
  // Takes ownership of the mapping of `mapped_bytes` at `address`.
  MemoryBlock(fabric::FiberScheduler& scheduler, std::byte* address, std::uint64_t size_bytes,
              std::uint64_t mapped_bytes, Pages pages,
              std::shared_ptr<fabric::KeptFile> file = nullptr)
      : scheduler_(scheduler),
        address_(address),
        size_bytes_(size_bytes),
        mapped_bytes_(mapped_bytes),
        pages_(pages),
        file_(std::move(file)) {}
  ~MemoryBlock() override { ::munmap(address_, mapped_bytes_); }
  MemoryBlock(const MemoryBlock&) = delete;
  MemoryBlock& operator=(const MemoryBlock&) = delete;

  std::span<std::byte> bytes() override { return {address_, size_bytes_}; }
  std::uint64_t load(std::uint64_t offset) override {
    return word(offset).load(std::memory_order_acquire);
  }
  void store(std::uint64_t offset, std::uint64_t value) override {
    word(offset).store(value, std::memory_order_release);
  }
  std::uint64_t compare_and_swap(std::uint64_t offset, std::uint64_t expected,
                                 std::uint64_t desired) override {
    word(offset).compare_exchange_strong(expected, desired);
    return expected;
  }
  void read(std::uint64_t offset, std::span<std::byte> destination) override;
  void write(std::uint64_t offset, std::span<const std::byte> source) override;
  std::uint64_t wait_until_changed(std::uint64_t offset, std::uint64_t seen,
                                   std::uint64_t deadline_ns) override {
    return scheduler_.wait_until_changed(word_at(offset), seen, deadline_ns);
  }
  Result<void> commit(std::uint64_t offset, std::uint64_t length_bytes) override;
  void release(std::uint64_t offset, std::uint64_t length_bytes) override;

  bool is_reserved() const { return pages_ == Pages::at_commit; }
  // A device pins the pages of the range. Errors: as commit.
  Result<void> pin(const Range& range) {
    if (!is_reserved()) return {};
    if (auto committed = commit(range.offset, range.length_bytes); !committed) return committed;
    pinned_.push_back(range);
    return {};
  }
  void unpin(const Range& range) {
    if (is_reserved()) pinned_.erase(std::ranges::find(pinned_, range));
  }

 private:
  std::uint64_t& word_at(std::uint64_t offset) {
    check_range(offset, fabric::word_bytes);
    FALAFEL_ASSERT(offset % fabric::word_bytes == 0, "offset {} is not aligned to a word", offset);
    return *reinterpret_cast<std::uint64_t*>(address_ + offset);
  }
  std::atomic_ref<std::uint64_t> word(std::uint64_t offset) {
    return std::atomic_ref(word_at(offset));
  }
  void check_range(std::uint64_t offset, std::uint64_t length_bytes) const {
    FALAFEL_ASSERT(offset <= size_bytes_ && length_bytes <= size_bytes_ - offset,
                   "bytes {}..+{} are not within the block of {} bytes", offset, length_bytes,
                   size_bytes_);
  }

  fabric::FiberScheduler& scheduler_;
  std::byte* address_;
  std::uint64_t size_bytes_;
  std::uint64_t mapped_bytes_;
  Pages pages_;
  std::vector<Range> pinned_;
  std::shared_ptr<fabric::KeptFile> file_;  // null: the memory ends with the process
};

Result<void> MemoryBlock::commit(std::uint64_t offset, std::uint64_t length_bytes) {
  check_range(offset, length_bytes);
  if (!is_reserved()) return {};
  if (file_ != nullptr) return file_->commit(offset, length_bytes);
  return fabric::commit_pages({address_ + offset, length_bytes});
}

// A device goes on using the pages that it has pinned. If the process gave them back, its processor
// would get others at the next commit, and would not see what the device writes.
void MemoryBlock::release(std::uint64_t offset, std::uint64_t length_bytes) {
  check_range(offset, length_bytes);
  const Range released{.offset = offset, .length_bytes = length_bytes};
  const auto is_inside = [&](const Range& pinned) { return overlap(pinned, released); };
  if (!is_reserved() || std::ranges::any_of(pinned_, is_inside)) return;
  if (file_ != nullptr) return file_->release(offset, length_bytes);
  fabric::give_back_pages({address_ + offset, length_bytes});
}

// Moves aligned words whole, and the bytes before the first and after the last one by one. The
// contract promises whole words only for aligned words.
void MemoryBlock::read(std::uint64_t offset, std::span<std::byte> destination) {
  check_range(offset, destination.size());
  for (std::uint64_t done = 0; done < destination.size();) {
    const std::uint64_t position = offset + done;
    const std::uint64_t word_offset = position - position % fabric::word_bytes;
    const auto value = std::bit_cast<std::array<std::byte, fabric::word_bytes>>(
        std::atomic_ref(*reinterpret_cast<std::uint64_t*>(address_ + word_offset))
            .load(std::memory_order_acquire));
    const std::uint64_t skipped = position - word_offset;
    const std::uint64_t count = std::min(fabric::word_bytes - skipped, destination.size() - done);
    std::memcpy(destination.data() + done, value.data() + skipped, count);
    done += count;
  }
}

void MemoryBlock::write(std::uint64_t offset, std::span<const std::byte> source) {
  check_range(offset, source.size());
  for (std::uint64_t done = 0; done < source.size();) {
    std::byte* const target = address_ + offset + done;
    if ((offset + done) % fabric::word_bytes == 0 && source.size() - done >= fabric::word_bytes) {
      std::uint64_t value = 0;
      std::memcpy(&value, source.data() + done, fabric::word_bytes);
      std::atomic_ref(*reinterpret_cast<std::uint64_t*>(target))
          .store(value, std::memory_order_release);
      done += fabric::word_bytes;
    } else {
      std::atomic_ref(*target).store(source[done], std::memory_order_release);
      ++done;
    }
  }
}

// -------------------------------------------------------------------------------------------------
// Regions

tl::unexpected<fabric::Error> registration_failed(std::uint64_t length_bytes, int error_number) {
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  const std::string most =
      limit.rlim_cur == RLIM_INFINITY ? "unlimited" : fmt::format("{} KiB", limit.rlim_cur / 1024);
  return make_error(
      ErrorCode::out_of_memory,
      fmt::format("cannot register {} bytes: {}. Registered memory is locked, and the "
                  "limit is {}; raise it (`ulimit -l`, LimitMEMLOCK)",
                  length_bytes, words_of(error_number), most));
}

class MemoryRegion final : public fabric::MemoryRegion {
 public:
  MemoryRegion(std::shared_ptr<DomainState> domain, std::shared_ptr<MemoryBlock> block, ibv_mr* raw,
               const RegisteredRange& range)
      : domain_(std::move(domain)),
        block_(std::move(block)),
        raw_(raw),
        local_key_(raw->lkey),
        remote_key_(raw->rkey),
        range_(range) {
    const bool is_new = domain_->regions.emplace(local_key_, range).second;
    FALAFEL_ASSERT(is_new, "two regions have the local key {}", local_key_);
  }
  ~MemoryRegion() override { revoke(); }
  MemoryRegion(const MemoryRegion&) = delete;
  MemoryRegion& operator=(const MemoryRegion&) = delete;

  std::uint32_t local_key() const override { return local_key_; }
  std::uint32_t remote_key() const override { return remote_key_; }
  std::uint64_t offset() const override { return range_.offset; }
  std::uint64_t length_bytes() const override { return range_.length_bytes; }
  fabric::Access access() const override { return range_.access; }
  Result<void> change_access(fabric::Access access) override;
  void revoke() override;

 private:
  Range pinned_range() const {
    return {.offset = range_.offset, .length_bytes = range_.length_bytes};
  }

  std::shared_ptr<DomainState> domain_;
  std::shared_ptr<MemoryBlock> block_;
  ibv_mr* raw_;  // null: revoked
  std::uint32_t local_key_;
  std::uint32_t remote_key_;
  RegisteredRange range_;
};

Result<void> MemoryRegion::change_access(fabric::Access access) {
  if (Result<void> checked = fabric::check_access(access); !checked) return checked;
  const Result<int> flags = flags_of(access);
  if (!flags) return tl::unexpected(flags.error());
  if (raw_ == nullptr) {
    return make_error(ErrorCode::invalid_argument, "the region was revoked; register it anew");
  }
  if (range_.is_paged) {
    return make_error(ErrorCode::unsupported,
                      "devices do not change rights of memory that they page; revoke the region "
                      "and register another one");
  }
  const int failed = ibv_rereg_mr(raw_, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, *flags);
  if (failed != 0) {
    return make_error(ErrorCode::unsupported,
                      fmt::format("the device cannot change rights: {}; revoke the region and "
                                  "register another one",
                                  words_of(errno)));
  }
  FALAFEL_ASSERT(raw_->lkey == local_key_ && raw_->rkey == remote_key_,
                 "the device gave region {} other keys when its rights changed", local_key_);
  range_.access = access;
  domain_->regions[local_key_] = range_;
  return {};
}

void MemoryRegion::revoke() {
  if (raw_ == nullptr) return;
  domain_->regions.erase(local_key_);
  const int failed = ibv_dereg_mr(std::exchange(raw_, nullptr));
  FALAFEL_ASSERT(failed == 0, "ibv_dereg_mr: {}", words_of(failed));
  if (!range_.is_paged) block_->unpin(pinned_range());
}

}  // namespace

Result<std::unique_ptr<fabric::MemoryRegion>> ProtectionDomain::register_memory(
    std::shared_ptr<fabric::MemoryBlock> block, std::uint64_t offset, std::uint64_t length_bytes,
    fabric::Access access) {
  auto own_block = std::dynamic_pointer_cast<MemoryBlock>(std::move(block));
  if (own_block == nullptr) {
    return make_error(
        ErrorCode::invalid_argument,
        "block: null, or of another fabric; use memory from this host's allocate_memory");
  }
  if (length_bytes == 0) {
    return make_error(ErrorCode::invalid_argument, "length_bytes: 0; register at least one byte");
  }
  if (Result<void> checked = fabric::check_access(access); !checked) {
    return tl::unexpected(checked.error());
  }
  const Result<int> flags = flags_of(access);
  if (!flags) return tl::unexpected(flags.error());
  const std::uint64_t size_bytes = own_block->bytes().size();
  if (length_bytes > size_bytes || offset > size_bytes - length_bytes) {
    return make_error(ErrorCode::out_of_bounds,
                      fmt::format("bytes {}..+{} are not within the block of {} bytes", offset,
                                  length_bytes, size_bytes));
  }
  const Range range{.offset = offset, .length_bytes = length_bytes};
  const bool is_paged = own_block->is_reserved() && can_page(state_->paging, access);
  if (!is_paged) {
    if (auto pinned = own_block->pin(range); !pinned) return tl::unexpected(pinned.error());
  }
  std::byte* const base = own_block->bytes().data();
  ibv_mr* const raw = ibv_reg_mr_iova(state_->raw.get(), base + offset, length_bytes, offset,
                                      *flags | (is_paged ? IBV_ACCESS_ON_DEMAND : 0));
  if (raw == nullptr) {
    const int error_number = errno;
    if (!is_paged) own_block->unpin(range);
    return registration_failed(length_bytes, error_number);
  }
  return std::make_unique<MemoryRegion>(state_, std::move(own_block), raw,
                                        RegisteredRange{.block = base,
                                                        .offset = offset,
                                                        .length_bytes = length_bytes,
                                                        .access = access,
                                                        .is_paged = is_paged});
}

// -------------------------------------------------------------------------------------------------
// Blocks

namespace {

// Asks the system to take the pages from this node. If the node has none left, it takes others.
void prefer_node(void* address, std::uint64_t length_bytes, std::uint32_t node) {
  constexpr std::uint32_t mask_bits = 64;
  if (node >= mask_bits) return;
  const unsigned long mask = 1UL << node;
  ::syscall(SYS_mbind, address, length_bytes, MPOL_PREFERRED, &mask, mask_bits + 1, 0);
}

}  // namespace

Result<std::shared_ptr<fabric::MemoryBlock>> allocate_block(fabric::FiberScheduler& scheduler,
                                                            std::uint64_t size_bytes,
                                                            const MemoryOptions& options) {
  if (size_bytes == 0) {
    return make_error(ErrorCode::invalid_argument, "size_bytes: 0; ask for at least one byte");
  }
  const bool huge = options.huge_page_bytes != 0 && size_bytes >= options.huge_page_bytes;
  const std::uint64_t page =
      huge ? options.huge_page_bytes : static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  if (size_bytes > ~std::uint64_t{0} - page) {
    return make_error(ErrorCode::out_of_memory, fmt::format("{} bytes are too many", size_bytes));
  }
  const std::uint64_t mapped_bytes = (size_bytes + page - 1) / page * page;
  const int page_flags =
      huge ? MAP_HUGETLB | std::countr_zero(options.huge_page_bytes) << MAP_HUGE_SHIFT : 0;
  void* const address = ::mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | page_flags, -1, 0);
  if (address == MAP_FAILED) {
    return make_error(ErrorCode::out_of_memory,
                      fmt::format("cannot allocate {} bytes: {}{}", size_bytes, words_of(errno),
                                  huge ? fmt::format("; reserve {} huge pages of {} KiB, see "
                                                     "/sys/kernel/mm/hugepages",
                                                     mapped_bytes / page, page / 1024)
                                       : ""));
  }
  if (options.numa_node) prefer_node(address, mapped_bytes, *options.numa_node);
  return std::make_shared<MemoryBlock>(scheduler, static_cast<std::byte*>(address), size_bytes,
                                       mapped_bytes, Pages::at_use);
}

Result<std::shared_ptr<fabric::MemoryBlock>> reserve_block(fabric::FiberScheduler& scheduler,
                                                           std::uint64_t size_bytes,
                                                           const MemoryOptions& options) {
  if (size_bytes == 0) {
    return make_error(ErrorCode::invalid_argument, "size_bytes: 0; ask for at least one byte");
  }
  const auto reserved = fabric::reserve_pages(size_bytes);
  if (!reserved) return tl::unexpected(reserved.error());
  if (options.numa_node) prefer_node(reserved->data(), size_bytes, *options.numa_node);
  return std::make_shared<MemoryBlock>(scheduler, reserved->data(), size_bytes, size_bytes,
                                       Pages::at_commit);
}

// A registration may pin the pages for as long as it lasts, which a file system on a disk refuses.
Result<std::shared_ptr<fabric::MemoryBlock>> map_kept_block(
    fabric::FiberScheduler& scheduler, const std::shared_ptr<fabric::KeptFile>& file) {
  if (!file->is_in_memory()) {
    return make_error(ErrorCode::unsupported,
                      fmt::format("'{}' is on a file system whose memory devices cannot use; "
                                  "choose a file on tmpfs, such as one in /dev/shm",
                                  file->path()));
  }
  const auto mapped = file->map_block();
  if (!mapped) return tl::unexpected(mapped.error());
  const bool is_reserved = file->space() == fabric::KeptFile::Space::reserved;
  return std::make_shared<MemoryBlock>(scheduler, *mapped, file->block_bytes(), file->block_bytes(),
                                       is_reserved ? Pages::at_commit : Pages::at_use, file);
}

}  // namespace falafel::verbs
