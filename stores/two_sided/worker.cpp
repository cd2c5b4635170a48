#include "stores/two_sided/worker.h"

#include <algorithm>

#include "fabric/cooperative_cancellation.h"
#include "stores/bytes.h"

namespace falafel::two_sided {
namespace {

Response make_response(ResponseCode code) {
  Response response;
  response.code = code;
  return response;
}

ResponseCode code_of(TableAnswer answer) {
  switch (answer) {
    case TableAnswer::done: return ResponseCode::ok;
    case TableAnswer::absent:
    case TableAnswer::busy: return ResponseCode::key_error;
    case TableAnswer::full: return ResponseCode::store_error;
  }
  return ResponseCode::unknown_error;
}

bool is_operation_on_key(Method method) {
  return method == Method::set || method == Method::get || method == Method::remove;
}

}  // namespace

// The worker waits for the next request with nothing in progress, so it may end here.
PortOutcome Worker::receive(Arrival& arrival) {
  const fabric::CooperativeCancellation cooperative(shared_.host);
  return port_.receive(arrival, fabric::never_ns);
}

std::optional<std::int32_t> Worker::run() {
  Arrival arrival;
  while (receive(arrival) == PortOutcome::done) {
    const std::uint64_t begin_ns = shared_.host.now_ns();
    ++shared_.statistics.busy_workers;
    const auto request = stores::from_bytes<Request>(port_.message(arrival));
    if (!request) ++shared_.statistics.malformed_requests;
    const bool reposts_early = shared_.options.repost == Repost::before_reply;
    // The request has been copied, so its buffer is free.
    if (reposts_early) port_.post_receive(arrival.buffer);
    const Service service =
        request ? serve(*request) : Service{.response = make_response(ResponseCode::parsing_error)};
    const bool is_sent =
        !service.response || port_.send(send_buffer_, stores::bytes_of(*service.response),
                                        arrival.source, fabric::never_ns) == PortOutcome::done;
    --shared_.statistics.busy_workers;
    shared_.statistics.busy_ns += shared_.host.now_ns() - begin_ns;
    // Others go on with the receive requests of a shared port.
    if (!reposts_early && is_sent) port_.post_receive(arrival.buffer);
    if (service.closes) return request->client_id;
    if (!is_sent) return std::nullopt;
  }
  return std::nullopt;
}

Worker::Service Worker::serve(const Request& request) {
  if (shared_.options.safeguards.request_deduplication) {
    const RequestState state = shared_.log.begin(request);
    if (state != RequestState::is_new) ++shared_.statistics.requests_repeated;
    if (state == RequestState::is_old) return {};
    if (state == RequestState::is_done) return {.response = shared_.log.response_to(request)};
  }
  ++shared_.statistics.requests;
  Response response = carry_out(request);
  response.request_number = request.request_number;
  if (shared_.options.safeguards.request_deduplication) shared_.log.finish(request, response);
  return {.response = response, .closes = request.connection_closed != 0};
}

Response Worker::carry_out(const Request& request) {
  const auto key = key_of(request);
  const auto value = message_of(request);
  const bool lacks_key = is_operation_on_key(request.method) && key && key->empty();
  if (!key || !value || lacks_key) {
    ++shared_.statistics.malformed_requests;
    return make_response(ResponseCode::parsing_error);
  }
  switch (request.method) {
    case Method::set: return make_response(code_of(shared_.table.set(*key, *value)));
    case Method::get: return get(*key);
    case Method::remove: return make_response(code_of(shared_.table.remove(*key)));
    case Method::ping: return make_response(ResponseCode::ok);
    case Method::reset: shared_.table.clear(); return make_response(ResponseCode::ok);
    case Method::set_option: return make_response(ResponseCode::set_option_error);
    case Method::unknown:
    case Method::dump:
    case Method::exit: break;
  }
  return make_response(ResponseCode::unknown_error);
}

Response Worker::get(std::span<const std::byte> key) {
  const GetOutcome outcome = shared_.table.get(key);
  Response response = make_response(code_of(outcome.answer));
  std::ranges::copy(outcome.value, response.message.begin());
  response.message_bytes = outcome.value.size();
  return response;
}

}  // namespace falafel::two_sided
