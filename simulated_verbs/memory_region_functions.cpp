// The functions of libibverbs that make and destroy protection domains and memory regions.
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "simulated_verbs/errors.h"
#include "simulated_verbs/invalid_calls.h"
#include "simulated_verbs/library_call.h"
#include "simulated_verbs/process.h"
#include "simulated_verbs/verbs_objects.h"

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
  VerbsObjects& objects = call.process().verbs();
  if (objects.has_windows_over(*region)) {
    return refuse_call(call.process(), "ibv_dereg_mr: memory windows are bound over it", EBUSY);
  }
  region->region->revoke();
  objects.receive_what_lands();
  objects.memory_regions.remove(region);
  return 0;
}
}
