#include "tools/server/memcached_front/responder.h"

#include <fmt/format.h>

#include <functional>
#include <map>

#include "fabric/realtime/clock.h"
#include "fabric/time_units.h"
#include "tools/server/memcached_front/cas_id.h"
#include "tools/server/memcached_front/command_line.h"
#include "tools/server/memcached_front/flush.h"
#include "tools/server/memcached_front/statistics_text.h"
#include "tools/server/memcached_front/stored_value.h"
#include "tools/server/memcached_front/words.h"

namespace falafel::memcached_front {
namespace {

using engine::Answer;
using Kind = Request::Kind;

constexpr std::string_view line_end = "\r\n";

// The answer if the store refused, in memcached's words where it has some.
std::string_view error_of(Answer answer) {
  switch (answer) {
    case Answer::value_too_large: return "SERVER_ERROR object too large for cache";
    case Answer::out_of_memory: return "SERVER_ERROR out of memory storing object";
    case Answer::table_full: return "SERVER_ERROR the table of the store is full";
    case Answer::corrupted: return "SERVER_ERROR the stored value is damaged; set or delete it";
    case Answer::unknown_outcome:
      return "SERVER_ERROR the connection to the store broke; the change may have happened";
    case Answer::disconnected:
      return "SERVER_ERROR the store is not connected; nothing was changed";
    case Answer::timed_out:
      return "SERVER_ERROR the store did not answer in time; nothing was changed";
    case Answer::not_a_cache:
      return "SERVER_ERROR expiry is not supported: the store keeps values until they are deleted";
    default: return "SERVER_ERROR the store refused the request";
  }
}

void append_line(std::string& answers, std::string_view line) {
  answers += line;
  answers += line_end;
}

bool is_meta(Kind kind) {
  return kind == Kind::meta_get || kind == Kind::meta_set || kind == Kind::meta_remove ||
         kind == Kind::meta_arithmetic;
}

// The answer to a change that the value, or its absence, does not permit.
std::string_view answer_of(ChangeResult result, bool is_meta) {
  switch (result) {
    case ChangeResult::not_stored: return is_meta ? "NS" : "NOT_STORED";
    case ChangeResult::exists: return is_meta ? "EX" : "EXISTS";
    case ChangeResult::not_found: return is_meta ? "NF" : "NOT_FOUND";
    default: return "CLIENT_ERROR cannot increment or decrement non-numeric value";
  }
}

bool has_meta_flag(std::string_view flags, char letter) {
  for (auto flag = cut_word(flags); !flag.empty(); flag = cut_word(flags)) {
    if (flag.front() == letter) return true;
  }
  return false;
}

// Seconds, rounded up; -1: the value does not expire.
std::int64_t seconds_left(const StoredValue& stored) {
  if (stored.expires_ns == 0) return -1;
  const std::uint64_t now_ns = fabric::wall_clock_ns();
  if (stored.expires_ns <= now_ns) return 0;
  return static_cast<std::int64_t>((stored.expires_ns - now_ns + fabric::second_ns - 1) /
                                   fabric::second_ns);
}

// Appends the flags that the client wants back, in its order.
void append_meta_flags(std::string& answers, const Request& request, const StoredValue& stored) {
  std::string_view rest = request.meta_flags;
  const FlaggedValue value = decode(stored.bytes);
  const bool has_value = request.kind == Kind::meta_get || request.kind == Kind::meta_arithmetic;
  for (auto flag = cut_word(rest); !flag.empty(); flag = cut_word(rest)) {
    const char letter = flag.front();
    if (letter == 'O') answers += fmt::format(" {}", flag);
    if (letter == 'k') answers += fmt::format(" k{}", request.key);
    if (has_value && letter == 'f') answers += fmt::format(" f{}", value.flags);
    if (has_value && letter == 's') answers += fmt::format(" s{}", value.value.size());
    if (has_value && letter == 'c') answers += fmt::format(" c{}", cas_id_of(stored.bytes));
    if (has_value && letter == 't') answers += fmt::format(" t{}", seconds_left(stored));
  }
  answers += line_end;
}

void append_meta_value(std::string& answers, const Request& request, const StoredValue& stored) {
  const bool with_value = has_meta_flag(request.meta_flags, 'v');
  const std::string_view value = decode(stored.bytes).value;
  answers += with_value ? fmt::format("VA {}", value.size()) : "HD";
  append_meta_flags(answers, request, stored);
  if (with_value) append_line(answers, value);
}

}  // namespace

Responder::Next Responder::respond(const Request& request, std::string& answers,
                                   IfDisconnected if_disconnected) {
  if_disconnected_ = if_disconnected;
  switch (request.kind) {
    case Kind::get: return get(request, answers);
    case Kind::meta_get: return meta_get(request, answers);
    case Kind::store:
    case Kind::meta_set: return store(request, answers);
    case Kind::arithmetic:
    case Kind::meta_arithmetic: return change_number(request, answers);
    case Kind::touch: return touch(request, answers);
    case Kind::remove:
    case Kind::meta_remove: return remove(request, answers);
    case Kind::flush_all: return flush(request, answers);
    case Kind::stats: return statistics(request, answers);
    case Kind::binary: return respond_in_binary(request, answers);
    case Kind::refused: return refuse(request, request.error, answers);
    case Kind::quit: return Next::end_connection;
    case Kind::end_of_get: append_line(answers, "END"); break;
    case Kind::meta_no_operation: append_line(answers, "MN"); break;
    case Kind::version: append_line(answers, fmt::format("VERSION {}", version_of_protocol)); break;
    case Kind::verbosity:
      if (!request.is_quiet) append_line(answers, "OK");
      break;
  }
  return Next::go_on;
}

Responder::Next Responder::respond_in_binary(const Request& request, std::string& answers) {
  switch (binary_.respond(request.value, if_disconnected_ == IfDisconnected::repeat, answers)) {
    case BinaryResponder::Next::go_on: break;
    case BinaryResponder::Next::end_connection: return Next::end_connection;
    case BinaryResponder::Next::disconnected: return Next::repeat;
  }
  return Next::go_on;
}

// Reading

Responder::Next Responder::get(const Request& request, std::string& answers) {
  const Answer answer = look_up(storage_, statistics_, request, [&](const StoredValue& stored) {
    const FlaggedValue found = decode(stored.bytes);
    answers += fmt::format("VALUE {} {} {}", request.key, found.flags, found.value.size());
    if (request.wants_cas) answers += fmt::format(" {}", cas_id_of(stored.bytes));
    answers += line_end;
    append_line(answers, found.value);
  });
  if (answer == Answer::found || answer == Answer::not_found) return Next::go_on;
  return refuse(request, answer, answers) == Next::repeat ? Next::repeat : Next::skip_get;
}

Responder::Next Responder::meta_get(const Request& request, std::string& answers) {
  const Answer answer = look_up(storage_, statistics_, request, [&](const StoredValue& stored) {
    append_meta_value(answers, request, stored);
  });
  if (answer == Answer::found) return Next::go_on;
  if (answer != Answer::not_found) return refuse(request, answer, answers);
  if (!request.is_quiet) append_line(answers, "EN");
  return Next::go_on;
}

// Changing

// Only what depends on the present value has to read it.
Responder::Next Responder::store(const Request& request, std::string& answers) {
  Change change;
  if (request.mode == StoreMode::set && !request.cas) {
    const FlaggedValue value{.value = request.value, .flags = request.flags};
    change.answer = storage_.set(request.key, encode(value, encoded_), request.exptime.value_or(0));
    if (change.answer == Answer::stored) change.result = ChangeResult::stored;
  } else {
    change = store_value(storage_, request);
  }
  if (change.result != ChangeResult::stored) return answer_failed(request, change, answers);
  ++statistics_.sets;
  if (request.is_quiet) return Next::go_on;
  answers += is_meta(request.kind) ? "HD" : "STORED";
  append_meta_flags(answers, request, {});
  return Next::go_on;
}

Responder::Next Responder::change_number(const Request& request, std::string& answers) {
  const Change change = add_to_number(storage_, request);
  if (change.result != ChangeResult::stored) return answer_failed(request, change, answers);
  ++statistics_.sets;
  if (request.is_quiet) return Next::go_on;
  if (is_meta(request.kind)) {
    append_meta_value(answers, request, {.bytes = change.value});
  } else {
    append_line(answers, decode(change.value).value);
  }
  return Next::go_on;
}

Responder::Next Responder::touch(const Request& request, std::string& answers) {
  const Change change = memcached_front::touch(storage_, request);
  if (change.result != ChangeResult::stored) return answer_failed(request, change, answers);
  if (!request.is_quiet) append_line(answers, "TOUCHED");
  return Next::go_on;
}

Responder::Next Responder::remove(const Request& request, std::string& answers) {
  const Answer answer = storage_.remove(request.key);
  if (answer != Answer::deleted && answer != Answer::not_found) {
    return refuse(request, answer, answers);
  }
  const bool is_hit = answer == Answer::deleted;
  ++(is_hit ? statistics_.delete_hits : statistics_.delete_misses);
  if (request.is_quiet) return Next::go_on;
  if (is_meta(request.kind)) {
    answers += is_hit ? "HD" : "NF";
  } else {
    answers += is_hit ? "DELETED" : "NOT_FOUND";
  }
  append_meta_flags(answers, request, {});
  return Next::go_on;
}

Responder::Next Responder::flush(const Request& request, std::string& answers) {
  const Flush flushed = flush_all(storage_);
  if (flushed.failed && flushed.has_removed) {
    return refuse(request, "SERVER_ERROR flush_all has removed some values only; repeat it",
                  answers);
  }
  if (flushed.failed) return refuse(request, *flushed.failed, answers);
  if (!request.is_quiet) append_line(answers, "OK");
  return Next::go_on;
}

// Refusals and failures

Responder::Next Responder::answer_failed(const Request& request, const Change& change,
                                         std::string& answers) {
  if (change.result == ChangeResult::refused) return refuse(request, change.answer, answers);
  const std::string_view answer = answer_of(change.result, is_meta(request.kind));
  if (change.result == ChangeResult::not_numeric) return refuse(request, answer, answers);
  // The quiet commands of `ms` and `ma` are silent about success only.
  const bool is_silent = request.is_quiet && !is_meta(request.kind);
  if (is_silent) return Next::go_on;
  answers += answer;
  append_meta_flags(answers, request, {});
  return Next::go_on;
}

Responder::Next Responder::refuse(const Request& request, Answer answer, std::string& answers) {
  const bool is_repeated =
      answer == Answer::disconnected && if_disconnected_ == IfDisconnected::repeat;
  return is_repeated ? Next::repeat : refuse(request, error_of(answer), answers);
}

// A quiet meta command reports errors nevertheless, so that its client expects them.
Responder::Next Responder::refuse(const Request& request, std::string_view error,
                                  std::string& answers) {
  ++statistics_.refusals;
  append_line(answers, error);
  const bool is_unexpected = request.is_quiet && !is_meta(request.kind);
  return is_unexpected || request.ends_connection ? Next::end_connection : Next::go_on;
}

// Statistics

Responder::Next Responder::statistics(const Request& request, std::string& answers) {
  std::string_view words = request.statistics;
  const std::string_view group = cut_word(words);
  if (group == "reset") {
    statistics_.reset();
    append_line(answers, "RESET");
    return Next::go_on;
  }
  if (group == "cachedump") return list_keys(request, answers);
  if (group.empty()) append_statistics(answers, statistics_, version_of_protocol);
  if (group == "settings") append_settings(answers, statistics_);
  append_line(answers, "END");
  return Next::go_on;
}

// Programs that list keys ask for the items of one slab class after the other. The store has no
// such classes; all keys are in the first one.
Responder::Next Responder::list_keys(const Request& request, std::string& answers) {
  std::string_view words = request.statistics;
  cut_word(words);
  const auto slab_class = to_number<std::uint32_t>(cut_word(words));
  const auto limit = to_number<std::uint32_t>(cut_word(words));
  if (!slab_class || !limit) return refuse(request, "CLIENT_ERROR bad command line", answers);
  std::map<std::string, std::string, std::less<>> lines;  // a scan may find a key twice
  if (*slab_class == 1) {
    const auto failed = storage_.for_each_key([&](std::string_view key, const StoredValue& stored) {
      if (!is_valid_key(key) || (*limit > 0 && lines.size() >= *limit)) return;
      lines[std::string(key)] =
          fmt::format("ITEM {} [{} b; {} s]", key, decode(stored.bytes).value.size(),
                      stored.expires_ns / fabric::second_ns);
    });
    if (failed) return refuse(request, *failed, answers);
  }
  for (const auto& [key, line] : lines) append_line(answers, line);
  append_line(answers, "END");
  return Next::go_on;
}

}  // namespace falafel::memcached_front
