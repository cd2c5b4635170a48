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

CommandLine parse_get(std::string_view words, const ParserOptions& /*options*/) {
  std::string_view rest = words;
  if (cut_word(rest).empty()) return refuse_line("ERROR");
  return {.request = {.kind = Kind::get}, .keys = words};
}

// set <key> <flags> <exptime> <bytes> [noreply]
CommandLine parse_set(std::string_view words, const ParserOptions& options) {
  const std::string_view key = cut_word(words);
  const auto flags = to_number<std::uint32_t>(cut_word(words));
  const std::string_view expiry = cut_word(words);
  const auto length = to_length(cut_word(words));
  const std::string_view option = cut_word(words);
  if (!length) return refuse_without_length();
  CommandLine line = {.request = {.kind = Kind::set, .key = key}, .data_bytes = length};
  if (!is_valid_key(key) || !flags || (!option.empty() && option != "noreply")) {
    line = refuse_line(bad_format, length);
  } else if (const auto problem = apply_exptime(line.request, expiry, options)) {
    line = refuse_line(*problem, length);
  } else if (*length > options.largest_value_bytes) {
    line = refuse_line(too_large, length);
  } else {
    line.request.flags = *flags;
  }
  line.request.is_quiet = option == "noreply";
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
  std::string_view rest = words;
  if (cut_word(rest).empty()) return refuse_line("ERROR");
  return {.request = {.kind = Kind::verbosity, .is_quiet = words.ends_with(" noreply")}};
}

CommandLine parse_version(std::string_view /*words*/, const ParserOptions& /*options*/) {
  return {.request = {.kind = Kind::version}};
}

CommandLine parse_stats(std::string_view words, const ParserOptions& /*options*/) {
  if (const std::string_view group = cut_word(words); !group.empty()) {
    return refuse_line(
        fmt::format("SERVER_ERROR stats {} is not supported: use stats", group.substr(0, 20)));
  }
  return {.request = {.kind = Kind::stats}};
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
    Command{"get", parse_get},
    Command{"set", parse_set},
    Command{"delete", parse_delete},
    Command{"mg", parse_meta_get},
    Command{"ms", parse_meta_set},
    Command{"md", parse_meta_remove},
    Command{"mn", parse_meta_no_operation},
    Command{"version", parse_version},
    Command{"verbosity", parse_verbosity},
    Command{"stats", parse_stats},
    Command{"quit", parse_quit},
};

// Commands of memcached that the store cannot do, with the reason.
struct RefusedCommand {
  std::string_view name;
  std::string_view reason;
  bool has_data = false;  // its fifth word is the length of a data block
};

constexpr std::string_view no_condition =
    "the store cannot make a change depend on the value that it has";
constexpr std::string_view no_expiry = "the store keeps values until they are deleted";
constexpr std::string_view no_later_expiry = "the store cannot change the expiry of a value";
constexpr std::string_view no_administration = "administer the store with falafel serve";

constexpr std::array refused_commands{
    RefusedCommand{"add", no_condition, true},
    RefusedCommand{"replace", no_condition, true},
    RefusedCommand{"append", no_condition, true},
    RefusedCommand{"prepend", no_condition, true},
    RefusedCommand{"cas", no_condition, true},
    RefusedCommand{"gets", no_condition},
    RefusedCommand{"incr", no_condition},
    RefusedCommand{"decr", no_condition},
    RefusedCommand{"ma", no_condition},
    RefusedCommand{"touch", no_later_expiry},
    RefusedCommand{"gat", no_later_expiry},
    RefusedCommand{"gats", no_later_expiry},
    RefusedCommand{"flush_all", "restart falafel serve to empty the store"},
    RefusedCommand{"me", no_administration},
    RefusedCommand{"cache_memlimit", no_administration},
    RefusedCommand{"lru", no_administration},
    RefusedCommand{"lru_crawler", no_administration},
    RefusedCommand{"misbehave", no_administration},
    RefusedCommand{"refresh_certs", no_administration},
    RefusedCommand{"shutdown", no_administration},
    RefusedCommand{"slabs", no_administration},
    RefusedCommand{"watch", no_administration},
};

CommandLine refuse_command(const RefusedCommand& command, std::string_view words) {
  const bool is_quiet = words.ends_with(" noreply");
  std::optional<std::uint64_t> length;
  if (command.has_data) {
    for (int before = 0; before < 3; ++before) cut_word(words);
    length = to_length(cut_word(words));
    if (!length) return refuse_without_length();
  }
  CommandLine line = refuse_line(
      fmt::format("SERVER_ERROR {} is not supported: {}", command.name, command.reason), length);
  line.request.is_quiet = is_quiet;
  return line;
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
  if (options.is_cache && !options.ignores_expiry) {
    request.exptime = *seconds;
    return std::nullopt;
  }
  if (*seconds == 0 || (*seconds > 0 && options.ignores_expiry)) return std::nullopt;
  return fmt::format("SERVER_ERROR expiry {} is not supported: {}; use 0", *seconds, no_expiry);
}

CommandLine parse_command_line(std::string_view line, const ParserOptions& options) {
  const std::string_view name = cut_word(line);
  const auto has_that_name = [&](const auto& command) { return command.name == name; };
  if (const auto* const command = std::find_if(commands.begin(), commands.end(), has_that_name);
      command != commands.end()) {
    return command->parse(line, options);
  }
  if (const auto* const refused =
          std::find_if(refused_commands.begin(), refused_commands.end(), has_that_name);
      refused != refused_commands.end()) {
    return refuse_command(*refused, line);
  }
  return refuse_line("ERROR");
}

}  // namespace falafel::memcached_front
