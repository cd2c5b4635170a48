// The benchmark of the thesis' section 5.2: how long a READ of 64 bytes takes after other requests
// and work of the server's processor. On the thesis' cards it varies, for reasons that the thesis
// does not know.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/sim/timing/profile.h"

namespace falafel::figures {

// Transfers and writes before each READ. All of them have completed when the READ is posted.
struct Flush {
  std::uint32_t transfer_bytes = 0;  // of a READ and of a WRITE, elsewhere in the memory; 0: none
  std::uint32_t memset_bytes = 0;  // that the server sets between a message and its reply; 0: none
};

// One client, alone. Returns the latency of each READ in nanoseconds, from posting until the
// completion has been polled.
std::vector<double> measure_reads(const sim::timing::Profile& profile, const Flush& flush,
                                  std::uint32_t reads);

}  // namespace falafel::figures
