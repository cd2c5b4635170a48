// Memory of a host and its registrations. The addresses of a region are offsets in its block,
// because the address that the device sees (the iova) is chosen that way.
//
// A registration of ordinary memory pins its pages. One of reserved memory pages them (paging.h) if
// the device pages all that its rights permit; otherwise it commits its range and pins it. While
// memory is pinned, release() gives nothing of it back. Only reliable connections may use memory
// that is paged.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "fabric/fabric.h"
#include "fabric/realtime/fiber_scheduler.h"
#include "fabric/realtime/kept_file.h"
#include "fabric/verbs/resources.h"

namespace falafel::verbs {

struct MemoryOptions {
  std::uint64_t huge_page_bytes = 0;
  std::optional<std::uint32_t> numa_node;
};

fabric::Result<std::shared_ptr<fabric::MemoryBlock>> allocate_block(
    fabric::FiberScheduler& scheduler, std::uint64_t size_bytes, const MemoryOptions& options);
// Memory that holds nothing before it is committed, for devices that page what peers READ.
fabric::Result<std::shared_ptr<fabric::MemoryBlock>> reserve_block(
    fabric::FiberScheduler& scheduler, std::uint64_t size_bytes, const MemoryOptions& options);
// Errors: unsupported (the kernel lets devices use no files but those of tmpfs), out_of_memory.
fabric::Result<std::shared_ptr<fabric::MemoryBlock>> map_kept_block(
    fabric::FiberScheduler& scheduler, const std::shared_ptr<fabric::KeptFile>& file);

// The properties of a registration that posting needs.
struct RegisteredRange {
  std::byte* block = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t length_bytes = 0;
  fabric::Access access{};
  bool is_paged = false;  // on demand

  bool contains(std::uint64_t first, std::uint64_t size_bytes) const {
    return first >= offset && size_bytes <= length_bytes &&
           first - offset <= length_bytes - size_bytes;
  }
};

// Shared by the program's protection domain, its regions and its queue pairs.
struct DomainState {
  DomainHandle raw;
  ibv_odp_caps paging{};                                       // of the device
  std::unordered_map<std::uint32_t, RegisteredRange> regions;  // by local key
};

class ProtectionDomain final : public fabric::ProtectionDomain {
 public:
  ProtectionDomain(DomainHandle raw, const ibv_odp_caps& paging)
      : state_(std::make_shared<DomainState>(
            DomainState{.raw = std::move(raw), .paging = paging, .regions = {}})) {}
  fabric::Result<std::unique_ptr<fabric::MemoryRegion>> register_memory(
      std::shared_ptr<fabric::MemoryBlock> block, std::uint64_t offset, std::uint64_t length_bytes,
      fabric::Access access) override;
  const std::shared_ptr<DomainState>& state() const { return state_; }

 private:
  std::shared_ptr<DomainState> state_;
};

}  // namespace falafel::verbs
