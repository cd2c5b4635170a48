// ibv_rereg_mr: the region gets another memory, protection domain or rights. If only the rights
// change, its keys stay. Otherwise it gets new ones, and receive requests with the old ones fail
// when a message arrives for them.
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstddef>

#include "simulated_verbs/invalid_calls.h"
#include "simulated_verbs/library_call.h"
#include "simulated_verbs/process.h"
#include "simulated_verbs/verbs_objects.h"

namespace falafel::simulated_verbs {

namespace {

constexpr int known_changes =
    IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_ACCESS;

// libibverbs finds these before the device hears of them.
bool is_input_right(int flags, const void* address, std::size_t length, int access) {
  if ((flags & ~known_changes) != 0) return false;
  const bool moves = (flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0;
  if (moves && (address == nullptr || length == 0)) return false;
  return access == 0 || (flags & IBV_REREG_MR_CHANGE_ACCESS) != 0;
}

int change_rights(const VerbsObjects& objects, MemoryRegion& region, unsigned rights) {
  if (!region.region->change_access(access_of(rights))) {
    objects.withdraw(region);
    return EINVAL;
  }
  region.registration.rights = rights;
  return 0;
}

// The device has given up the old registration when it finds that the new one is not possible.
// Paging begins or ends with a registration.
int change(const VerbsObjects& objects, MemoryRegion& region, int flags,
           const Registration& wanted) {
  if (objects.has_windows_over(region)) return EBUSY;
  if (flags == 0) return 0;
  const bool pages = ((region.registration.rights | wanted.rights) & IBV_ACCESS_ON_DEMAND) != 0;
  if (flags == IBV_REREG_MR_CHANGE_ACCESS && !pages) {
    return change_rights(objects, region, wanted.rights);
  }
  objects.withdraw(region);
  return region.register_memory(wanted);
}

}  // namespace

}  // namespace falafel::simulated_verbs

using namespace falafel::simulated_verbs;  // NOLINT(google-build-using-namespace)

extern "C" {

int ibv_rereg_mr(ibv_mr* mr, int flags, ibv_pd* pd, void* addr, std::size_t length, int access) {
  const LibraryCall call("ibv_rereg_mr");
  call.let_others_go_on();
  const bool changes_domain = (flags & IBV_REREG_MR_CHANGE_PD) != 0;
  if (!is_input_right(flags, addr, length, access) || (changes_domain && pd == nullptr)) {
    errno = refuse_call(call.process(), "ibv_rereg_mr: flags and arguments do not fit", EINVAL);
    return IBV_REREG_MR_ERR_INPUT;
  }
  auto& region = *static_cast<MemoryRegion*>(mr);
  Registration wanted = region.registration;
  if (changes_domain) wanted.domain = &wrapper_of(pd);
  if ((flags & IBV_REREG_MR_CHANGE_ACCESS) != 0) wanted.rights = static_cast<unsigned>(access);
  if ((flags & IBV_REREG_MR_CHANGE_TRANSLATION) != 0) {
    wanted.address = static_cast<std::byte*>(addr);
    wanted.length_bytes = length;
    wanted.first_address = reinterpret_cast<std::uint64_t>(addr);
  }
  const int error = change(call.process().verbs(), region, flags, wanted);
  if (error == 0) return 0;
  errno = error;
  return IBV_REREG_MR_ERR_CMD;
}
}
