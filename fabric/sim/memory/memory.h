// Memory blocks of simulated hosts: how their processors read and write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "fabric/fabric.h"
#include "fabric/sim/run/store_buffer.h"
#include "fabric/sim/touches.h"
#include "fabric/sim/words/range_set.h"

namespace falafel::sim {

class HostState;
struct World;

class MemoryBlock final : public fabric::MemoryBlock,
                          public StoredMemory,
                          public std::enable_shared_from_this<MemoryBlock> {
 public:
  MemoryBlock(World& world, HostState& host, std::uint64_t size_bytes);
  // Memory that the program owns. It exists as long as the world.
  MemoryBlock(World& world, HostState& host, std::span<std::byte> owned_by_program);
  ~MemoryBlock() override;
  MemoryBlock(const MemoryBlock&) = delete;
  MemoryBlock& operator=(const MemoryBlock&) = delete;

  std::span<std::byte> bytes() override {
    if (is_special_) prepare_direct_access();
    return {data_, size_bytes_};
  }
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

  // Before the block is used: nothing of it is committed.
  void reserve();
  // The processor uses a range, or a device changes it. Reports memory that is not committed.
  void note_use(std::uint64_t offset, std::uint64_t length_bytes, std::string_view user) const {
    if (!uncommitted_.empty()) report_uncommitted(offset, length_bytes, user);
  }

  std::byte* data() const override { return data_; }
  std::uint64_t size_bytes() const { return size_bytes_; }
  std::uint32_t number() const { return number_; }  // blocks are numbered as they are allocated
  const HostState& host() const { return host_; }

  void change_word(fabric::FiberId fiber, std::uint64_t offset, std::uint64_t value) override;
  void change_bytes(fabric::FiberId fiber, std::uint64_t offset,
                    std::span<const std::byte> source) override;
  // See existing_programs.h.
  void expect_store(std::uint64_t offset);
  void note_store(std::uint64_t offset, std::uint64_t length_bytes);
  void write_through(std::uint64_t offset, std::span<const std::byte> source);

 private:
  // `late_words`: of those that may be late, how many an exploration leaves late.
  std::uint64_t load(std::uint64_t offset, Answers late_words);
  std::byte* word(std::uint64_t offset) const;
  void check_range(std::uint64_t offset, std::uint64_t length_bytes) const;
  void maybe_preempt();
  void prepare_direct_access();
  void report_uncommitted(std::uint64_t offset, std::uint64_t length_bytes,
                          std::string_view user) const;
  StoreBuffer* store_buffer() const;
  fabric::FiberId running_fiber() const;
  void change(std::uint64_t offset, std::span<const std::byte> source);
  void touch_as_processor(std::uint64_t offset, std::uint64_t length_bytes, Access access) {
    if (is_observed_) report_access(offset, length_bytes, access);
  }
  void report_access(std::uint64_t offset, std::uint64_t length_bytes, Access access);
  void look(const std::byte* begin, std::span<std::byte> seen, Answers late_words = all_answers);
  void look_at_late_words(const std::byte* begin, std::span<std::byte> seen, Answers sufficient);
  void show_newest(std::uint64_t offset, std::uint64_t length_bytes);
  template <typename Move>
  void move_torn(std::uint64_t offset, std::uint64_t length_bytes, Move move);

  World& world_;
  std::weak_ptr<const World> world_lifetime_;
  HostState& host_;
  std::uint32_t number_;
  bool is_observed_;  // an explorer wants to know of accesses
  bool is_special_;   // direct access to the bytes has effects: it is observed, or drains stores
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::unique_ptr<std::byte, Free> own_memory_;  // null if the program owns it
  std::byte* data_;
  std::uint64_t size_bytes_;
  RangeSet uncommitted_;
};

}  // namespace falafel::sim
