// The requests that C-Hint's server takes, and the buffers for them (stores/exchange), with the
// containers into which clients WRITE their reports (C-Hint 3.4.1).
#pragma once

#include <optional>

#include "stores/c_hint/messages.h"
#include "stores/c_hint/options.h"
#include "stores/exchange/request.h"
#include "stores/exchange/server_ends.h"

namespace falafel::c_hint {

// Its value is that of a SET, or a report.
using Request = stores::Request<RequestHeader>;

// Each exchange may WRITE the reply of a report besides its reply.
stores::ServerEndsOptions server_ends_options(const Options& options);

// Reads the report from the container if it is there. Nothing: the message is malformed.
std::optional<Request> parse(const stores::ServerEnds::Arrival& arrival,
                             std::uint64_t container_bytes);

}  // namespace falafel::c_hint
