#include "simulated_verbs/plain_accesses.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>
#include <utility>

#include "fabric/sim/existing_programs.h"
#include "simulated_verbs/memory_region.h"
#include "simulated_verbs/process_site.h"

namespace falafel::simulated_verbs {

namespace {

// Equal values have equal digests, and others hardly ever do.
std::uint64_t digest(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  if (bytes.size() <= sizeof value) {
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  return std::hash<std::string_view>{}({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

}  // namespace

std::span<const std::byte> PlainAccesses::load(const MemoryRegion& region, const void* address,
                                               std::size_t length_bytes) {
  // Another thread may deregister the region while this one waits.
  const std::shared_ptr<fabric::MemoryBlock> block = region.block;
  const std::uint64_t offset = region.offset_of(address);
  seen_.resize(length_bytes);
  block->read(offset, seen_);
  if (polls(address, digest(seen_))) {
    process_.wait_for_activity();
    block->read(offset, seen_);
  }
  return seen_;
}

void PlainAccesses::expect_load(const MemoryRegion& region, const void* address,
                                std::size_t length_bytes) {
  const std::size_t length = region.clamp(address, length_bytes);
  auto* const memory = static_cast<std::byte*>(const_cast<void*>(address));
  const std::span<const std::byte> seen = load(region, address, length);
  if (std::memcmp(memory, seen.data(), length) == 0) return;
  newest_.assign(memory, memory + length);
  std::memcpy(memory, seen.data(), length);
  shown_ = memory;
}

void PlainAccesses::expect_store(const MemoryRegion& region, const void* address,
                                 std::size_t length_bytes) {
  std::shared_ptr<fabric::MemoryBlock> block = region.block;
  const std::uint64_t offset = region.offset_of(address);
  const std::size_t length = region.clamp(address, length_bytes);
  sim::expect_store(*block, offset);
  stored_ = std::move(block);
  stored_offset_ = offset;
  stored_bytes_ = length;
}

void PlainAccesses::store(const MemoryRegion& region, void* address,
                          std::span<const std::byte> source) {
  const std::shared_ptr<fabric::MemoryBlock> block = region.block;
  sim::write_through(*block, region.offset_of(address), source);
}

void PlainAccesses::note_load(const void* address, std::uint64_t value) {
  if (polls(address, value)) process_.wait_for_activity();
}

// Returns true now and then while the value stays the same. The system may choose other pages in a
// replay, so the place of the address within its page decides which loads are forgotten.
bool PlainAccesses::polls(const void* address, std::uint64_t value) {
  Load& last =
      loads_[reinterpret_cast<std::uintptr_t>(address) / fabric::word_bytes % remembered_loads];
  const bool is_repeated = last.address == address && last.value == value;
  if (!is_repeated) last = {.address = address, .value = value};
  last.repetitions = (last.repetitions + 1) % loads_of_waiting;
  return last.repetitions == 0;
}

void PlainAccesses::settle_access() {
  if (std::byte* const memory = std::exchange(shown_, nullptr); memory != nullptr) {
    // Code without hooks may have stored there in between.
    for (std::size_t index = 0; index < newest_.size(); ++index) {
      if (memory[index] == seen_[index]) memory[index] = newest_[index];
    }
  }
  if (const std::shared_ptr<fabric::MemoryBlock> block = std::exchange(stored_, nullptr)) {
    sim::note_store(*block, stored_offset_, stored_bytes_);
  }
}

}  // namespace falafel::simulated_verbs
