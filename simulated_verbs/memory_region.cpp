#include "simulated_verbs/memory_region.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "fabric/sim/existing_programs.h"
#include "simulated_verbs/errors.h"
#include "simulated_verbs/invalid_calls.h"
#include "simulated_verbs/library_call.h"
#include "simulated_verbs/not_simulated.h"
#include "simulated_verbs/process.h"
#include "simulated_verbs/subnet.h"
#include "simulated_verbs/verbs_objects.h"

namespace falafel::simulated_verbs {

namespace {

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
  Process& process = wanted.domain->owner.process;
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

void MemoryRegion::withdraw() {
  Process& process = registration.domain->owner.process;
  sim::withdraw(process.host(), *region);
  for (const auto& queue_pair : process.verbs().queue_pairs.all()) {
    sim::receive_what_lands(*queue_pair->pair);
  }
}

bool MemoryRegion::has_windows() const {
  const Process& process = registration.domain->owner.process;
  return std::ranges::any_of(process.verbs().memory_windows.all(),
                             [&](const auto& window) { return window->is_bound_over(*this); });
}

fabric::Access access_of(unsigned flags) {
  return {.local_write = (flags & IBV_ACCESS_LOCAL_WRITE) != 0,
          .remote_read = (flags & IBV_ACCESS_REMOTE_READ) != 0,
          .remote_write = (flags & IBV_ACCESS_REMOTE_WRITE) != 0,
          .remote_atomic = (flags & IBV_ACCESS_REMOTE_ATOMIC) != 0};
}

ProtectionDomain::ProtectionDomain(Context& opened)
    : ibv_pd{}, owner(opened), domain(opened.process.host().device(0).create_protection_domain()) {
  context = &opened.context;
}

}  // namespace falafel::simulated_verbs

using namespace falafel::simulated_verbs;  // NOLINT(google-build-using-namespace)

extern "C" {

ibv_pd* ibv_alloc_pd(ibv_context* context) {
  const LibraryCall call("ibv_alloc_pd");
  return call.process().verbs().protection_domains.add(
      std::make_unique<ProtectionDomain>(wrapper_of(context)));
}

int ibv_dealloc_pd(ibv_pd* pd) {
  const LibraryCall call("ibv_dealloc_pd");
  if (wrapper_of(pd).users > 0) {
    return refuse_call(call.process(), "ibv_dealloc_pd: other objects use it", EBUSY);
  }
  call.process().verbs().protection_domains.remove(&wrapper_of(pd));
  return 0;
}

#undef ibv_reg_mr
ibv_mr* ibv_reg_mr(ibv_pd* pd, void* addr, std::size_t length, int access) {
  return ibv_reg_mr_iova2(pd, addr, length, reinterpret_cast<std::uint64_t>(addr),
                          static_cast<unsigned>(access));
}

#undef ibv_reg_mr_iova
ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* addr, std::size_t length, std::uint64_t iova,
                        int access) {
  return ibv_reg_mr_iova2(pd, addr, length, iova, static_cast<unsigned>(access));
}

ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* addr, std::size_t length, std::uint64_t iova,
                         unsigned access) {
  const LibraryCall call("ibv_reg_mr");
  auto region = std::make_unique<MemoryRegion>();
  const int error =
      region->register_memory({.domain = &wrapper_of(pd),
                               .address = static_cast<std::byte*>(addr),
                               .length_bytes = length,
                               .first_address = (access & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : iova,
                               .rights = access});
  if (error != 0) return fail_with(error);
  return call.process().verbs().memory_regions.add(std::move(region));
}

// Once it has returned, no device uses the memory, so that the program may free it.
int ibv_dereg_mr(ibv_mr* mr) {
  const LibraryCall call("ibv_dereg_mr");
  call.let_others_go_on();
  auto* const region = static_cast<MemoryRegion*>(mr);
  if (region->has_windows()) {
    return refuse_call(call.process(), "ibv_dereg_mr: memory windows are bound over it", EBUSY);
  }
  region->region->revoke();
  for (const auto& queue_pair : call.process().verbs().queue_pairs.all()) {
    falafel::sim::receive_what_lands(*queue_pair->pair);
  }
  call.process().verbs().memory_regions.remove(region);
  return 0;
}
}
