// The requests that Pilaf's server takes, and the buffers for them (stores/exchange).
#pragma once

#include <optional>

#include "stores/exchange/request.h"
#include "stores/exchange/server_ends.h"
#include "stores/pilaf/messages.h"
#include "stores/pilaf/options.h"

namespace falafel::pilaf {

using Request = stores::Request<RequestHeader>;

// Each connection has an announcement besides its exchanges.
stores::ServerEndsOptions server_ends_options(const Options& options);

// Nothing: the message is malformed.
std::optional<Request> parse(const stores::ServerEnds::Arrival& arrival);

}  // namespace falafel::pilaf
