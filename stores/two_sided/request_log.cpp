#include "stores/two_sided/request_log.h"

#include "fabric/fabric.h"

namespace falafel::two_sided {
namespace {

// The numbers wrap around.
bool is_later(std::uint32_t number, std::uint32_t other) {
  return static_cast<std::int32_t>(number - other) > 0;
}

}  // namespace

RequestState RequestLog::begin(const Request& request) {
  Last& last = clients_[request.client_id];
  if (is_later(request.request_number, last.request_number)) {
    last = {.request_number = request.request_number};
    return RequestState::is_new;
  }
  const bool is_last = request.request_number == last.request_number;
  return is_last && last.response ? RequestState::is_done : RequestState::is_old;
}

// A later request may have arrived meanwhile, from a client that has given up on this one.
void RequestLog::finish(const Request& request, const Response& response) {
  Last& last = clients_.at(request.client_id);
  if (last.request_number == request.request_number) last.response = response;
}

const Response& RequestLog::response_to(const Request& request) const {
  const Last& last = clients_.at(request.client_id);
  FALAFEL_ASSERT(last.response.has_value(), "request {} of client {} is in progress",
                 request.request_number, request.client_id);
  return *last.response;
}

}  // namespace falafel::two_sided
