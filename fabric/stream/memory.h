// Memory of a host and its registrations. Only the host's own thread accesses it: messages arrive
// by the calls of that thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/realtime/fiber_scheduler.h"
#include "fabric/realtime/kept_file.h"

namespace falafel::stream {

fabric::Result<std::shared_ptr<fabric::MemoryBlock>> allocate_block(
    fabric::FiberScheduler& scheduler, std::uint64_t size_bytes);
fabric::Result<std::shared_ptr<fabric::MemoryBlock>> map_kept_block(
    fabric::FiberScheduler& scheduler, const std::shared_ptr<fabric::KeptFile>& file);

// The properties of a registration that posting needs.
struct RegisteredRange {
  std::shared_ptr<fabric::MemoryBlock> block;
  std::uint64_t offset = 0;
  std::uint64_t length_bytes = 0;
  fabric::Access access{};

  bool contains(std::uint64_t first, std::uint64_t size_bytes) const {
    return first >= offset && size_bytes <= length_bytes &&
           first - offset <= length_bytes - size_bytes;
  }
};

// Shared by the program's protection domain, its regions and its queue pairs.
struct DomainState {
  std::map<std::uint32_t, RegisteredRange> regions;  // by key

  const RegisteredRange* find(std::uint32_t key) const {
    const auto found = regions.find(key);
    return found == regions.end() ? nullptr : &found->second;
  }
};

class ProtectionDomain final : public fabric::ProtectionDomain {
 public:
  // `next_key` is shared by all domains of the host, so that no key means two regions.
  ProtectionDomain(fabric::FiberScheduler& scheduler, std::uint32_t& next_key)
      : scheduler_(scheduler), next_key_(next_key), state_(std::make_shared<DomainState>()) {}

  fabric::Result<std::unique_ptr<fabric::MemoryRegion>> register_memory(
      std::shared_ptr<fabric::MemoryBlock> block, std::uint64_t offset, std::uint64_t length_bytes,
      fabric::Access access) override;

  fabric::FiberScheduler& scheduler() const { return scheduler_; }
  const std::shared_ptr<DomainState>& state() const { return state_; }

 private:
  fabric::FiberScheduler& scheduler_;
  std::uint32_t& next_key_;
  std::shared_ptr<DomainState> state_;
};

}  // namespace falafel::stream
