#include "tools/server/memcached_front/responder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <ctime>

#include "falafel_build_identity.h"
#include "tools/server/memcached_front/stored_value.h"
#include "tools/server/memcached_front/words.h"

namespace falafel::memcached_front {
namespace {

using engine::Answer;
using Kind = Request::Kind;

constexpr std::string_view line_end = "\r\n";
// Clients derive from the first two numbers what the server understands.
constexpr std::string_view version = "1.6.0-falafel";

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
  return kind == Kind::meta_get || kind == Kind::meta_set || kind == Kind::meta_remove;
}

bool has_meta_flag(std::string_view flags, char letter) {
  for (auto flag = cut_word(flags); !flag.empty(); flag = cut_word(flags)) {
    if (flag.front() == letter) return true;
  }
  return false;
}

// Appends the flags that the client wants back, in its order.
void append_meta_flags(std::string& answers, const Request& request, const FlaggedValue& value) {
  std::string_view rest = request.meta_flags;
  const bool is_get = request.kind == Kind::meta_get;
  for (auto flag = cut_word(rest); !flag.empty(); flag = cut_word(rest)) {
    const char letter = flag.front();
    if (letter == 'O') answers += fmt::format(" {}", flag);
    if (letter == 'k') answers += fmt::format(" k{}", request.key);
    if (is_get && letter == 'f') answers += fmt::format(" f{}", value.flags);
    if (is_get && letter == 's') answers += fmt::format(" s{}", value.value.size());
    if (is_get && letter == 't') answers += " t-1";  // it does not expire
  }
  answers += line_end;
}

}  // namespace

Responder::Next Responder::respond(const Request& request, std::string& answers,
                                   IfDisconnected if_disconnected) {
  if_disconnected_ = if_disconnected;
  switch (request.kind) {
    case Kind::get: return get(request, answers);
    case Kind::meta_get: return meta_get(request, answers);
    case Kind::set:
    case Kind::meta_set: return set(request, answers);
    case Kind::remove:
    case Kind::meta_remove: return remove(request, answers);
    case Kind::refused: return refuse(request, request.error, answers);
    case Kind::quit: return Next::end_connection;
    case Kind::end_of_get: append_line(answers, "END"); break;
    case Kind::meta_no_operation: append_line(answers, "MN"); break;
    case Kind::version: append_line(answers, fmt::format("VERSION {}", version)); break;
    case Kind::stats: append_statistics(answers); break;
    case Kind::verbosity:
      if (!request.is_quiet) append_line(answers, "OK");
      break;
  }
  return Next::go_on;
}

Answer Responder::look_up(std::string_view key, const std::function<void(std::string_view)>& use) {
  const Answer answer = storage_.get(key, use);
  if (answer == Answer::found) ++statistics_.get_hits;
  if (answer == Answer::not_found) ++statistics_.get_misses;
  return answer;
}

Responder::Next Responder::get(const Request& request, std::string& answers) {
  const Answer answer = look_up(request.key, [&](std::string_view stored) {
    const FlaggedValue found = decode(stored);
    answers += fmt::format("VALUE {} {} {}\r\n", request.key, found.flags, found.value.size());
    append_line(answers, found.value);
  });
  if (answer == Answer::found || answer == Answer::not_found) return Next::go_on;
  return refuse(request, answer, answers) == Next::repeat ? Next::repeat : Next::skip_get;
}

Responder::Next Responder::meta_get(const Request& request, std::string& answers) {
  const bool with_value = has_meta_flag(request.meta_flags, 'v');
  const Answer answer = look_up(request.key, [&](std::string_view stored) {
    const FlaggedValue found = decode(stored);
    answers += with_value ? fmt::format("VA {}", found.value.size()) : "HD";
    append_meta_flags(answers, request, found);
    if (with_value) append_line(answers, found.value);
  });
  if (answer == Answer::found) return Next::go_on;
  if (answer != Answer::not_found) return refuse(request, answer, answers);
  if (!request.is_quiet) append_line(answers, "EN");
  return Next::go_on;
}

Responder::Next Responder::set(const Request& request, std::string& answers) {
  const FlaggedValue value{.value = request.value, .flags = request.flags};
  const Answer answer = storage_.set(request.key, encode(value, encoded_), request.exptime);
  if (answer != Answer::stored) return refuse(request, answer, answers);
  ++statistics_.sets;
  if (request.is_quiet) return Next::go_on;
  answers += is_meta(request.kind) ? "HD" : "STORED";
  append_meta_flags(answers, request, value);
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

void Responder::append_statistics(std::string& answers) const {
  const auto append = [&](std::string_view name, const auto& value) {
    answers += fmt::format("STAT {} {}\r\n", name, value);
  };
  const auto uptime = std::chrono::steady_clock::now() - statistics_.started;
  const std::uint64_t hits = statistics_.get_hits;
  const std::uint64_t misses = statistics_.get_misses;
  append("pid", getpid());
  append("uptime", std::chrono::duration_cast<std::chrono::seconds>(uptime).count());
  append("time", std::time(nullptr));
  append("version", version);
  append("falafel_revision", build::revision);
  append("pointer_size", 8 * sizeof(void*));
  append("max_connections", statistics_.max_connections);
  append("curr_connections", statistics_.current_connections.load());
  append("total_connections", statistics_.total_connections.load());
  append("rejected_connections", statistics_.rejected_connections.load());
  append("cmd_get", hits + misses);
  append("cmd_set", statistics_.sets.load());
  append("get_hits", hits);
  append("get_misses", misses);
  append("delete_hits", statistics_.delete_hits.load());
  append("delete_misses", statistics_.delete_misses.load());
  append("refused_requests", statistics_.refusals.load());
  append("threads", statistics_.threads);
  append_line(answers, "END");
}

}  // namespace falafel::memcached_front
