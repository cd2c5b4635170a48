// On-demand paging: a device takes the pages of a registration from the system when it accesses
// them, and gives them up when the system or the process takes them back. Such a registration pins
// nothing. Devices page some uses of memory and not others, and only for some transports.
#pragma once

#include <infiniband/verbs.h>

#include <string>

#include "fabric/fabric.h"

namespace falafel::verbs {

// Returns the capabilities that a registration with these rights needs and the device lacks, by
// their names in libibverbs. Empty: the registration can page.
//
// The rights permit a peer to READ, to WRITE or to change words. In addition, work requests of the
// host may use any registration as the source of a SEND or a WRITE, and one with local write as the
// place for a message, for what a READ returns, or for the result of an atomic. All of these have
// to be paged, on reliable connections; no other transport may use the registration.
std::string missing_for_paging(const ibv_odp_caps& device, const fabric::Access& access);

inline bool can_page(const ibv_odp_caps& device, const fabric::Access& access) {
  return missing_for_paging(device, access).empty();
}

}  // namespace falafel::verbs
