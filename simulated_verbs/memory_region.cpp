#include "simulated_verbs/memory_region.h"

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "fabric/sim/existing_programs.h"
#include "simulated_verbs/errors.h"
#include "simulated_verbs/not_simulated.h"
#include "simulated_verbs/process_site.h"
#include "simulated_verbs/subnet.h"

namespace falafel::simulated_verbs {

namespace {

// IBV_ACCESS_UNORDERED of newer headers, which contains IBV_ACCESS_RELAXED_ORDERING.
constexpr unsigned unordered_bit = IBV_ACCESS_OPTIONAL_FIRST << 1U;

constexpr unsigned known_rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
                                  IBV_ACCESS_ZERO_BASED | IBV_ACCESS_HUGETLB | IBV_ACCESS_MW_BIND |
                                  IBV_ACCESS_OPTIONAL_RANGE | IBV_ACCESS_ON_DEMAND;

// The whole words that contain the memory, because the fabric's blocks begin with a word.
std::span<std::byte> words_around(std::byte* address, std::size_t length_bytes) {
  const std::uint64_t before = reinterpret_cast<std::uint64_t>(address) % fabric::word_bytes;
  return {address - before, before + length_bytes};
}

// Without implicit registrations, which have no length.
bool can_page(sim::OnDemandPaging paging, std::size_t length_bytes) {
  return paging != sim::OnDemandPaging::none && length_bytes != SIZE_MAX;
}

// A device refuses atomics on memory for which it would have to page them.
fabric::Access access_to(unsigned rights, sim::OnDemandPaging paging) {
  fabric::Access access = access_of(rights);
  const bool is_paged = (rights & IBV_ACCESS_ON_DEMAND) != 0;
  if (is_paged && paging == sim::OnDemandPaging::without_atomics) access.remote_atomic = false;
  return access;
}

}  // namespace

MemoryRegion::~MemoryRegion() {
  if (registration.domain != nullptr) --registration.domain->users;
}

int MemoryRegion::register_memory(const Registration& wanted) {
  if ((wanted.rights & ~known_rights) != 0) {
    report_not_simulated(
        "ibv_reg_mr: a right beyond local write and remote read, write and atomic");
    return EOPNOTSUPP;
  }
  if (wanted.length_bytes == 0) return EINVAL;
  ProcessSite& process = wanted.domain->owner.process;
  const sim::OnDemandPaging paging = sim::on_demand_paging_of(process.host());
  if ((wanted.rights & IBV_ACCESS_ON_DEMAND) != 0 && !can_page(paging, wanted.length_bytes)) {
    return EOPNOTSUPP;
  }
  const std::span<std::byte> words = words_around(wanted.address, wanted.length_bytes);
  const std::uint64_t offset = words.size() - wanted.length_bytes;
  const std::shared_ptr<fabric::MemoryBlock> adopted = sim::adopt_memory(process.host(), words);
  auto registered = wanted.domain->domain->register_memory(adopted, offset, wanted.length_bytes,
                                                           access_to(wanted.rights, paging));
  if (!registered) return errno_of(registered.error());
  ++wanted.domain->users;
  if (registration.domain != nullptr) --registration.domain->users;
  registration = wanted;
  block = adopted;
  region = std::move(*registered);
  watch = sim::watch_memory(process.host(), words.last(wanted.length_bytes), *process.activity());
  process.subnet().note_region(region->local_key(), base());
  process.subnet().note_region(region->remote_key(), base());
  context = wanted.domain->context;
  pd = wanted.domain;
  addr = wanted.address;
  length = wanted.length_bytes;
  lkey = region->local_key();
  rkey = region->remote_key();
  return 0;
}

fabric::Access access_of(unsigned flags) {
  return {.local_write = (flags & IBV_ACCESS_LOCAL_WRITE) != 0,
          .remote_read = (flags & IBV_ACCESS_REMOTE_READ) != 0,
          .remote_write = (flags & IBV_ACCESS_REMOTE_WRITE) != 0,
          .remote_atomic = (flags & IBV_ACCESS_REMOTE_ATOMIC) != 0,
          .relaxed_ordering = (flags & IBV_ACCESS_RELAXED_ORDERING) != 0,
          .unordered = (flags & unordered_bit) != 0};
}

}  // namespace falafel::simulated_verbs
