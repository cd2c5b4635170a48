// Memory blocks, which are parts of the process's shared memory, and the regions registered over
// them.
#pragma once

#include <memory>

#include "fabric/fabric.h"
#include "fabric/realtime/fiber_scheduler.h"
#include "fabric/shm/process_state.h"

namespace falafel::shm {

class MemoryBlock final : public fabric::MemoryBlock {
 public:
  MemoryBlock(std::shared_ptr<ProcessState> process, fabric::FiberScheduler& scheduler,
              std::uint64_t arena_offset, std::uint64_t size_bytes,
              std::shared_ptr<KeptRange> kept = nullptr);
  ~MemoryBlock() override;
  MemoryBlock(const MemoryBlock&) = delete;
  MemoryBlock& operator=(const MemoryBlock&) = delete;

  std::span<std::byte> bytes() override { return {base_, size_bytes_}; }
  std::uint64_t load(std::uint64_t offset) override;
  void store(std::uint64_t offset, std::uint64_t value) override;
  std::uint64_t compare_and_swap(std::uint64_t offset, std::uint64_t expected,
                                 std::uint64_t desired) override;
  void read(std::uint64_t offset, std::span<std::byte> destination) override;
  void write(std::uint64_t offset, std::span<const std::byte> source) override;
  std::uint64_t wait_until_changed(std::uint64_t offset, std::uint64_t seen,
                                   std::uint64_t deadline_ns) override;
  fabric::Result<void> commit(std::uint64_t offset, std::uint64_t length_bytes) override;
  void release(std::uint64_t offset, std::uint64_t length_bytes) override;

  const ProcessState& process() const { return *process_; }
  std::uint64_t arena_offset() const { return arena_offset_; }
  std::uint64_t size_bytes() const { return size_bytes_; }
  void add_domain(const std::shared_ptr<const DomainNumber>& domain);

 private:
  std::byte* range(std::uint64_t offset, std::uint64_t length_bytes) const;
  std::byte* word(std::uint64_t offset) const;
  void take_turns();

  std::shared_ptr<ProcessState> process_;
  fabric::FiberScheduler& scheduler_;
  std::uint64_t arena_offset_;
  std::uint64_t size_bytes_;
  std::byte* base_;
  std::shared_ptr<KeptRange> kept_;  // null: the memory ends with the process
  std::uint32_t accesses_ = 0;
  std::vector<std::weak_ptr<const DomainNumber>> domains_;  // where it is or was registered
};

class ProtectionDomain final : public fabric::ProtectionDomain {
 public:
  explicit ProtectionDomain(std::shared_ptr<ProcessState> process)
      : process_(std::move(process)), number_(process_->next_domain()) {}
  fabric::Result<std::unique_ptr<fabric::MemoryRegion>> register_memory(
      std::shared_ptr<fabric::MemoryBlock> block, std::uint64_t offset, std::uint64_t length_bytes,
      fabric::Access access) override;

  const std::shared_ptr<const DomainNumber>& number() const { return number_; }
  const ProcessState& process() const { return *process_; }

 private:
  std::shared_ptr<ProcessState> process_;
  std::shared_ptr<const DomainNumber> number_;
};

}  // namespace falafel::shm
