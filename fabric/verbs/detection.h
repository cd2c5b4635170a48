// Measures how long a device takes to notice that its peer is gone.
#pragma once

#include <cstdint>
#include <string>

#include "fabric/error.h"
#include "fabric/verbs/finding.h"
#include "fabric/verbs/options.h"
#include "fabric/work_request.h"

namespace falafel::verbs {

struct Detection {
  // From posting a request to its completion.
  std::uint64_t took_ns = 0;
  // retry_exceeded, unless the device did something else.
  fabric::CompletionStatus status = fabric::CompletionStatus::success;
};

// Connects a queue pair, with the defaults of QueuePairOptions, to one of the same port that is not
// ready to receive. A device drops what such a queue pair gets, without an answer, as if the peer's
// machine had lost its power. Then posts a request and waits until the device gives up, which takes
// seconds. Errors: those of Host::create, and unreachable: the device has not given up after
// `patience_ns`.
fabric::Result<Detection> measure_detection(const DeviceOptions& options,
                                            std::uint64_t patience_ns);

// `bound_ns`: the detection time that the store expects at most.
Finding judge_detection(const std::string& subject, const fabric::Result<Detection>& measured,
                        std::uint64_t bound_ns);

}  // namespace falafel::verbs
