// Runs requests on the store and formats the answers of memcached's text protocol. Requests of the
// binary protocol go on to BinaryResponder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/server/memcached_front/binary_responder.h"
#include "tools/server/memcached_front/command_line.h"
#include "tools/server/memcached_front/request.h"
#include "tools/server/memcached_front/statistics.h"
#include "tools/server/memcached_front/storage.h"
#include "tools/server/memcached_front/value_change.h"

namespace falafel::memcached_front {

class Responder {
 public:
  // All arguments must outlive the object.
  Responder(Storage& storage, Statistics& statistics, const ParserOptions& options)
      : storage_(storage), statistics_(statistics), binary_(storage, statistics, options) {}

  enum class Next : std::uint8_t {
    go_on,
    skip_get,        // the get is over: the rest of its keys has to be skipped
    end_connection,  // after the answers have been sent
    repeat,          // the store is not connected: nothing was changed and nothing answered
  };
  // The treatment of a request that finds the store disconnected.
  enum class IfDisconnected : bool { answer, repeat };
  // Appends the answer, if any, to `answers`. Waits for the store.
  //
  // The client of a `noreply` command expects no answer, so an error could only be mistaken for the
  // answer of its next command. The connection then ends after the error.
  Next respond(const Request& request, std::string& answers,
               IfDisconnected if_disconnected = IfDisconnected::answer);

 private:
  Next respond_in_binary(const Request& request, std::string& answers);
  Next get(const Request& request, std::string& answers);
  Next meta_get(const Request& request, std::string& answers);
  Next store(const Request& request, std::string& answers);
  Next change_number(const Request& request, std::string& answers);
  Next touch(const Request& request, std::string& answers);
  Next remove(const Request& request, std::string& answers);
  Next flush(const Request& request, std::string& answers);
  Next list_keys(const Request& request, std::string& answers);
  Next statistics(const Request& request, std::string& answers);
  // Answers a change that did not succeed.
  Next answer_failed(const Request& request, const Change& change, std::string& answers);
  Next refuse(const Request& request, std::string_view error, std::string& answers);
  Next refuse(const Request& request, engine::Answer answer, std::string& answers);

  Storage& storage_;
  Statistics& statistics_;
  BinaryResponder binary_;
  IfDisconnected if_disconnected_ = IfDisconnected::answer;  // of the present request
  std::string encoded_;                                      // a value with its header
};

}  // namespace falafel::memcached_front
