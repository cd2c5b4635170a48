#include "tools/server/memcached_front/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "tools/server/memcached_front/meta_flags.h"
#include "tools/server/memcached_front/words.h"

namespace falafel::memcached_front {
namespace {

using Kind = Request::Kind;

constexpr std::string_view bad_format = "CLIENT_ERROR bad command line format";
constexpr std::string_view bad_exptime = "CLIENT_ERROR invalid exptime argument";
constexpr std::string_view too_large = "SERVER_ERROR object too large for cache";
// As in memcached, whose lengths are of type int.
constexpr std::uint64_t longest_data_block_bytes = std::numeric_limits<std::int32_t>::max() - 2;

// The line of a refused request whose data block, if any, follows.
CommandLine refuse_line(std::string_view error, std::optional<std::uint64_t> data_bytes = {}) {
  return {.request = refuse(error), .data_bytes = data_bytes};
}

// Reads the length of a data block. Without it, the end of the request is unknown.
std::optional<std::uint64_t> to_length(std::string_view word) {
  const auto length = to_number<std::uint64_t>(word);
  return length && *length <= longest_data_block_bytes ? length : std::nullopt;
}

CommandLine refuse_without_length() {
  CommandLine line = refuse_line("CLIENT_ERROR bad data chunk");
  line.request.ends_connection = true;
  return line;
}

// Text commands

// The rest of a line: nothing or `noreply`. Returns nullopt if it is anything else.
std::optional<bool> to_quiet(std::string_view words) {
  const std::string_view option = cut_word(words);
  if (option.empty()) return false;
  return option == "noreply" ? std::optional(true) : std::nullopt;
}

template <bool wants_cas>
CommandLine parse_get(std::string_view words, const ParserOptions& /*options*/) {
  std::string_view rest = words;
  if (cut_word(rest).empty()) return refuse_line("ERROR");
  return {.request = {.kind = Kind::get, .wants_cas = wants_cas}, .keys = words};
}

// gat <exptime> <key>+
template <bool wants_cas>
CommandLine parse_get_and_touch(std::string_view words, const ParserOptions& options) {
  const std::string_view exptime = cut_word(words);
  CommandLine line = parse_get<wants_cas>(words, options);
  if (line.request.kind == Kind::refused) return line;
  if (!to_number<std::int64_t>(exptime)) return refuse_line(bad_exptime);
  if (const auto problem = apply_exptime(line.request, exptime, options)) {
    return refuse_line(*problem);
  }
  return line;
}

// set <key> <flags> <exptime> <bytes> [noreply]; for cas, the id precedes `noreply`
CommandLine parse_store(std::string_view words, StoreMode mode, bool has_cas,
                        const ParserOptions& options) {
  const std::string_view key = cut_word(words);
  const auto flags = to_number<std::uint32_t>(cut_word(words));
  const std::string_view expiry = cut_word(words);
  const auto length = to_length(cut_word(words));
  if (!length) return refuse_without_length();
  const auto cas = has_cas ? to_number<std::uint64_t>(cut_word(words)) : std::nullopt;
  const auto is_quiet = to_quiet(words);
  CommandLine line = {.request = {.kind = Kind::store, .key = key, .mode = mode},
                      .data_bytes = length};
  // append and prepend have flags and an expiry, and change neither
  const bool extends = mode == StoreMode::append || mode == StoreMode::prepend;
  if (!is_valid_key(key) || !flags || !is_quiet || (has_cas && !cas)) {
    line = refuse_line(bad_format, length);
  } else if (const auto problem =
                 extends ? std::nullopt : apply_exptime(line.request, expiry, options)) {
    line = refuse_line(*problem, length);
  } else if (*length > options.largest_value_bytes) {
    line = refuse_line(too_large, length);
  } else {
    line.request.flags = *flags;
    line.request.cas = cas;
  }
  line.request.is_quiet = words.ends_with("noreply");
  return line;
}

template <StoreMode mode, bool has_cas = false>
CommandLine parse_store(std::string_view words, const ParserOptions& options) {
  return parse_store(words, mode, has_cas, options);
}

// incr <key> <delta> [noreply]
template <bool decrements>
CommandLine parse_arithmetic(std::string_view words, const ParserOptions& /*options*/) {
  const std::string_view key = cut_word(words);
  const std::string_view delta_word = cut_word(words);
  const auto delta = to_number<std::uint64_t>(delta_word);
  const auto is_quiet = to_quiet(words);
  if (delta_word.empty()) return refuse_line("ERROR");
  CommandLine line = {
      .request = {.kind = Kind::arithmetic,
                  .key = key,
                  .arithmetic = {.delta = delta.value_or(0), .decrements = decrements}}};
  if (!is_valid_key(key) || !is_quiet) {
    line = refuse_line(bad_format);
  } else if (!delta) {
    line = refuse_line("CLIENT_ERROR invalid numeric delta argument");
  }
  line.request.is_quiet = words.ends_with("noreply");
  return line;
}

// touch <key> <exptime> [noreply]
CommandLine parse_touch(std::string_view words, const ParserOptions& options) {
  const std::string_view key = cut_word(words);
  const std::string_view exptime = cut_word(words);
  const auto is_quiet = to_quiet(words);
  if (exptime.empty()) return refuse_line("ERROR");
  CommandLine line = {.request = {.kind = Kind::touch, .key = key}};
  if (!is_valid_key(key) || !is_quiet) {
    line = refuse_line(bad_format);
  } else if (!to_number<std::int64_t>(exptime)) {
    line = refuse_line(bad_exptime);
  } else if (const auto problem = apply_exptime(line.request, exptime, options)) {
    line = refuse_line(*problem);
  }
  line.request.is_quiet = words.ends_with("noreply");
  return line;
}

// flush_all [delay] [noreply]
CommandLine parse_flush_all(std::string_view words, const ParserOptions& options) {
  const bool is_quiet = words.ends_with("noreply");
  std::string_view delay_word = cut_word(words);
  if (delay_word == "noreply") delay_word = {};
  const auto delay =
      delay_word.empty() ? std::optional<std::int64_t>(0) : to_number<std::int64_t>(delay_word);
  CommandLine line = {.request = {.kind = Kind::flush_all}};
  if (!delay) {
    line = refuse_line(bad_exptime);
  } else if (*delay > 0) {
    line = refuse_line("SERVER_ERROR flush_all with a delay is not supported: use 0");
  } else if (!options.permits_flush) {
    line = refuse_line("CLIENT_ERROR flush_all not allowed");
  }
  line.request.is_quiet = is_quiet;
  return line;
}

// delete <key> [0] [noreply]
CommandLine parse_delete(std::string_view words, const ParserOptions& /*options*/) {
  const std::string_view key = cut_word(words);
  std::string_view option = cut_word(words);
  if (option == "0") option = cut_word(words);
  const bool is_quiet = option == "noreply";
  CommandLine line = {.request = {.kind = Kind::remove, .key = key}};
  if (!is_valid_key(key) || (!option.empty() && !is_quiet)) line = refuse_line(bad_format);
  line.request.is_quiet = is_quiet;
  return line;
}

// verbosity <level> [noreply]: accepted, because some clients send it, but without effect
CommandLine parse_verbosity(std::string_view words, const ParserOptions& /*options*/) {
  constexpr int most_words = 2;
  std::string_view rest = words;
  int count = 0;
  while (!cut_word(rest).empty()) ++count;
  if (count == 0 || count > most_words) return refuse_line("ERROR");
  return {.request = {.kind = Kind::verbosity, .is_quiet = words.ends_with(" noreply")}};
}

CommandLine parse_version(std::string_view /*words*/, const ParserOptions& /*options*/) {
  return {.request = {.kind = Kind::version}};
}

// stats [items|settings|slabs|sizes|reset|cachedump <slab class> <limit>]
CommandLine parse_stats(std::string_view words, const ParserOptions& /*options*/) {
  std::string_view rest = words;
  const std::string_view group = cut_word(rest);
  constexpr std::array<std::string_view, 7> groups{"",      "items", "settings", "slabs",
                                                   "sizes", "reset", "cachedump"};
  if (std::ranges::find(groups, group) == groups.end()) return refuse_line("ERROR");
  return {.request = {.kind = Kind::stats, .statistics = words}};
}

CommandLine parse_quit(std::string_view /*words*/, const ParserOptions& /*options*/) {
  return {.request = {.kind = Kind::quit}};
}

// Meta commands

CommandLine finish_meta(Kind kind, std::string_view key, std::string_view flags,
                        std::optional<std::uint64_t> data_bytes, const ParserOptions& options) {
  CommandLine line = {.request = {.kind = kind, .key = key, .meta_flags = flags},
                      .data_bytes = data_bytes};
  if (!is_valid_key(key)) return refuse_line(bad_format, data_bytes);
  if (const auto problem = apply_meta_flags(line.request, options)) {
    return refuse_line(*problem, data_bytes);
  }
  return line;
}

CommandLine parse_meta_get(std::string_view words, const ParserOptions& options) {
  const std::string_view key = cut_word(words);
  return finish_meta(Kind::meta_get, key, words, std::nullopt, options);
}

CommandLine parse_meta_remove(std::string_view words, const ParserOptions& options) {
  const std::string_view key = cut_word(words);
  return finish_meta(Kind::meta_remove, key, words, std::nullopt, options);
}

CommandLine parse_meta_arithmetic(std::string_view words, const ParserOptions& options) {
  const std::string_view key = cut_word(words);
  return finish_meta(Kind::meta_arithmetic, key, words, std::nullopt, options);
}

// ms <key> <bytes> <flags>*
CommandLine parse_meta_set(std::string_view words, const ParserOptions& options) {
  const std::string_view key = cut_word(words);
  const auto length = to_length(cut_word(words));
  if (!length) return refuse_without_length();
  if (*length > options.largest_value_bytes) return refuse_line(too_large, length);
  return finish_meta(Kind::meta_set, key, words, length, options);
}

CommandLine parse_meta_no_operation(std::string_view /*words*/, const ParserOptions& /*options*/) {
  return {.request = {.kind = Kind::meta_no_operation}};
}

// The commands by name

struct Command {
  std::string_view name;
  CommandLine (*parse)(std::string_view words, const ParserOptions& options);
};

constexpr std::array commands{
    Command{"get", parse_get<false>},
    Command{"gets", parse_get<true>},
    Command{"gat", parse_get_and_touch<false>},
    Command{"gats", parse_get_and_touch<true>},
    Command{"set", parse_store<StoreMode::set>},
    Command{"add", parse_store<StoreMode::add>},
    Command{"replace", parse_store<StoreMode::replace>},
    Command{"append", parse_store<StoreMode::append>},
    Command{"prepend", parse_store<StoreMode::prepend>},
    Command{"cas", parse_store<StoreMode::set, true>},
    Command{"incr", parse_arithmetic<false>},
    Command{"decr", parse_arithmetic<true>},
    Command{"touch", parse_touch},
    Command{"delete", parse_delete},
    Command{"flush_all", parse_flush_all},
    Command{"mg", parse_meta_get},
    Command{"ms", parse_meta_set},
    Command{"ma", parse_meta_arithmetic},
    Command{"md", parse_meta_remove},
    Command{"mn", parse_meta_no_operation},
    Command{"version", parse_version},
    Command{"verbosity", parse_verbosity},
    Command{"stats", parse_stats},
    Command{"quit", parse_quit},
};

constexpr std::string_view no_expiry = "the store keeps values until they are deleted";

// Commands of memcached that administer it.
constexpr std::array<std::string_view, 9> refused_commands{
    "cache_memlimit", "lru",      "lru_crawler", "me",   "misbehave",
    "refresh_certs",  "shutdown", "slabs",       "watch"};

CommandLine refuse_command(std::string_view name) {
  return refuse_line(fmt::format(
      "SERVER_ERROR {} is not supported: administer the store with falafel serve", name));
}

}  // namespace

Request refuse(std::string_view error) {
  return {.kind = Kind::refused, .error = std::string(error)};
}

bool is_valid_key(std::string_view key) {
  constexpr auto is_printable = [](char character) {
    const auto byte = static_cast<unsigned char>(character);
    return byte > ' ' && byte != 127;
  };
  return !key.empty() && key.size() <= longest_key_bytes &&
         std::all_of(key.begin(), key.end(), is_printable);
}

std::optional<std::string> apply_exptime(Request& request, std::string_view exptime,
                                         const ParserOptions& options) {
  const auto seconds = to_number<std::int64_t>(exptime);
  if (!seconds) return std::string(bad_format);
  return apply_exptime(request, *seconds, options);
}

std::optional<std::string> apply_exptime(Request& request, std::int64_t seconds,
                                         const ParserOptions& options) {
  if (options.is_cache && !options.ignores_expiry) {
    request.exptime = seconds;
    return std::nullopt;
  }
  if (seconds == 0 || (seconds > 0 && options.ignores_expiry)) return std::nullopt;
  return fmt::format("SERVER_ERROR expiry {} is not supported: {}; use 0", seconds, no_expiry);
}

CommandLine parse_command_line(std::string_view line, const ParserOptions& options) {
  const std::string_view name = cut_word(line);
  if (const auto* const command = std::ranges::find(commands, name, &Command::name);
      command != commands.end()) {
    return command->parse(line, options);
  }
  const bool is_refused = std::ranges::find(refused_commands, name) != refused_commands.end();
  return is_refused ? refuse_command(name) : refuse_line("ERROR");
}

}  // namespace falafel::memcached_front
