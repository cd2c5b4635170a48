// The server's memory of its clients' requests (Safeguards::request_deduplication): the last one of
// each client, and its response. A client has one request at a time, so an earlier one is a
// repetition that nobody waits for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "stores/two_sided/layout.h"

namespace falafel::two_sided {

enum class RequestState : std::uint8_t {
  is_new,   // it is now in progress
  is_done,  // its response is in the log
  is_old,   // a later one has arrived, or it is in progress: no response
};

class RequestLog {
 public:
  RequestState begin(const Request& request);
  void finish(const Request& request, const Response& response);
  // The response to a request that is done.
  const Response& response_to(const Request& request) const;

 private:
  struct Last {
    std::uint32_t request_number = 0;
    std::optional<Response> response{};  // absent: in progress
  };

  std::map<std::int32_t, Last> clients_;
};

}  // namespace falafel::two_sided
