// What a request must be on its transport. libibverbs would tell some of it later, in completions, and
// break the queue pair over it; or post half of a chain.
#include "fabric/request_rules.h"
#include "fabric/verbs/queue_pair.h"

namespace falafel::fabric {

Result<void> VerbsQueuePair::check_open() const {
  if (state_ != QueuePairState::closed) return {};
  return make_error(ErrorCode::queue_pair_closed,
                    fmt::format("queue pair {} was closed; connect again", number_));
}

Result<void> VerbsQueuePair::check_local(const MemoryAddress& local, std::uint64_t length_bytes,
                                         bool is_written) const {
  if (length_bytes == 0) return {};
  const auto found = domain_->regions.find(local.key);
  if (found == domain_->regions.end()) {
    return make_error(
        ErrorCode::access_denied,
        fmt::format("local.key: {} is no region of the queue pair's protection domain", local.key));
  }
  const RegisteredRange& range = found->second;
  if (!range.contains(local.offset, length_bytes)) {
    return make_error(
        ErrorCode::out_of_bounds,
        fmt::format("local buffer: bytes {}..+{} are not within the region at {}..+{}",
                    local.offset, length_bytes, range.offset, range.length_bytes));
  }
  if (is_written && !range.access.local_write) {
    return make_error(ErrorCode::access_denied,
                      "local buffer: it will be written; register it with local_write");
  }
  return {};
}

Result<void> VerbsQueuePair::check(const WorkRequest& request) const {
  if (Result<void> checked = check_request(request, options_, attributes_); !checked)
    return checked;
  return check_local(request.local, request.length_bytes, returns_data(request.opcode));
}

}  // namespace falafel::fabric
