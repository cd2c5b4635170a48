#include "fabric/realtime/descriptor_shortage.h"

#include <fmt/format.h>

#include <cerrno>

namespace falafel::fabric {

bool is_out_of_descriptors(int error) {
  return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

void DescriptorShortage::note(std::string_view problem, std::uint64_t now_ns) {
  ++count_;
  if (!report_ || !is_due(now_ns)) return;
  report_(
      fmt::format("no file descriptor is left for a client that connects: {}; raise the limit "
                  "of open files (LimitNOFILE of the service, or ulimit -n)",
                  problem));
}

bool DescriptorShortage::is_due(std::uint64_t now_ns) {
  const std::lock_guard lock(mutex_);
  if (now_ns < next_report_ns_) return false;
  next_report_ns_ = now_ns + report_interval_ns;
  return true;
}

}  // namespace falafel::fabric
