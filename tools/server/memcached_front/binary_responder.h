// Runs requests of the binary protocol on the store, and formats the answers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tools/server/memcached_front/binary_frame.h"
#include "tools/server/memcached_front/command_line.h"
#include "tools/server/memcached_front/request.h"
#include "tools/server/memcached_front/statistics.h"
#include "tools/server/memcached_front/storage.h"
#include "tools/server/memcached_front/value_change.h"

namespace falafel::memcached_front {

class BinaryResponder {
 public:
  BinaryResponder(Storage& storage, Statistics& statistics, const ParserOptions& options)
      : storage_(storage), statistics_(statistics), options_(options) {}

  enum class Next : std::uint8_t {
    go_on,
    end_connection,
    disconnected,  // the store is not connected: nothing was changed and nothing answered
  };
  // `frame`: a whole request. Appends the answer, if any. Waits for the store. Answers
  // `disconnected` only if `may_repeat`.
  Next respond(std::string_view frame, bool may_repeat, std::string& answers);

 private:
  // The answer to a command: the response, or the store's refusal.
  struct Outcome {
    BinaryStatus status = BinaryStatus::success;
    std::string text{};    // of the response: a value, or a message
    std::string extras{};  // of the response
    std::uint64_t cas = 0;
    std::optional<engine::Answer> refusal{};
  };

  Outcome execute(const BinaryRequest& request, std::uint8_t opcode);
  Outcome get(const BinaryRequest& request, bool touches);
  Outcome store(const BinaryRequest& request, StoreMode mode);
  Outcome change_number(const BinaryRequest& request, bool decrements);
  Outcome touch(const BinaryRequest& request);
  Outcome remove(const BinaryRequest& request);
  Outcome flush(const BinaryRequest& request);
  void append_all_statistics(const BinaryRequest& request, std::string& answers) const;
  // Sets the request's exptime. Returns a message if the store cannot have it.
  std::optional<Outcome> apply_expiration(Request& request, std::string_view extras) const;

  static Outcome outcome_of(const Change& change, BinaryStatus not_stored);
  static Outcome refused(BinaryStatus status, std::string_view text) {
    return {.status = status, .text = std::string(text)};
  }

  Storage& storage_;
  Statistics& statistics_;
  const ParserOptions& options_;
};

}  // namespace falafel::memcached_front
