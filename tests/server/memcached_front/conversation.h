// A client of the front, without sockets: bytes go in, answers come out.
#pragma once

#include <string>
#include <string_view>

#include "tests/server/memcached_front/map_storage.h"
#include "tools/server/memcached_front/request_parser.h"
#include "tools/server/memcached_front/responder.h"

namespace falafel::memcached_front {

class Conversation {
 public:
  explicit Conversation(const ParserOptions& options = {}) : options_(options), parser_(options) {}

  // Returns the answers to these bytes.
  std::string send(std::string_view bytes) {
    std::string answers;
    if (has_ended_) return answers;
    parser_.append(bytes);
    while (const auto request = parser_.next()) {
      const Responder::Next next = responder_.respond(*request, answers);
      if (next == Responder::Next::skip_get) parser_.skip_get();
      has_ended_ = next == Responder::Next::end_connection;
      if (has_ended_) break;
    }
    return answers;
  }

  bool has_ended() const { return has_ended_; }
  MapStorage& storage() { return storage_; }
  const Statistics& statistics() const { return statistics_; }

 private:
  const ParserOptions options_;
  MapStorage storage_;
  Statistics statistics_;
  RequestParser parser_;
  Responder responder_{storage_, statistics_, options_};
  bool has_ended_ = false;
};

}  // namespace falafel::memcached_front
