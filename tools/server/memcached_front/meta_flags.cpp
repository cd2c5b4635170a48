#include "tools/server/memcached_front/meta_flags.h"

#include <fmt/format.h>

#include <bitset>

#include "tools/server/memcached_front/words.h"

namespace falafel::memcached_front {
namespace {

using Kind = Request::Kind;
using Refusal = std::optional<std::string>;

constexpr std::size_t longest_opaque_bytes = 32;

// The flags that the front understands. All others that memcached has need a change that depends
// on what the store has, a time to live, or a count of accesses.
constexpr std::string_view supported_flags(Kind kind) {
  switch (kind) {
    case Kind::meta_get: return "fkOqstv";
    case Kind::meta_set: return "FkMOqT";
    default: return "kOq";
  }
}

constexpr std::string_view flags_of_memcached(Kind kind) {
  switch (kind) {
    case Kind::meta_get: return "bcfhklOqstvENRT";
    case Kind::meta_set: return "bcCFIkOqsSTM";
    default: return "bCIkOqTx";
  }
}

bool has(std::string_view flags, char letter) { return flags.find(letter) != flags.npos; }

Refusal invalid_argument(std::string_view flag) {
  return fmt::format("CLIENT_ERROR invalid argument of flag {}", flag.substr(0, 1));
}

Refusal apply_flag(Request& request, std::string_view flag, const ParserOptions& options) {
  const std::string_view argument = flag.substr(1);
  switch (flag.front()) {
    case 'F': {
      const auto flags = to_number<std::uint32_t>(argument);
      if (!flags) return invalid_argument(flag);
      request.flags = *flags;
      return std::nullopt;
    }
    case 'M':
      if (argument == "S" || argument == "s" || argument == "set") return std::nullopt;
      return fmt::format("SERVER_ERROR mode {} is not supported: a set always replaces the value",
                         argument);
    case 'O':
      if (argument.size() > longest_opaque_bytes) return invalid_argument(flag);
      return std::nullopt;
    case 'T': return apply_exptime(request, argument, options);
    // Values that never expire have -1 seconds left. How long others have is not known.
    case 't':
      if (!options.is_cache) return std::nullopt;
      return "SERVER_ERROR flag t is not supported: a cache does not tell when a value expires";
    case 'q': request.is_quiet = true; return std::nullopt;
    default: return std::nullopt;
  }
}

}  // namespace

Refusal apply_meta_flags(Request& request, const ParserOptions& options) {
  std::bitset<256> seen;
  std::string_view rest = request.meta_flags;
  for (auto flag = cut_word(rest); !flag.empty(); flag = cut_word(rest)) {
    const char letter = flag.front();
    if (!has(flags_of_memcached(request.kind), letter)) return "CLIENT_ERROR invalid flag";
    if (!has(supported_flags(request.kind), letter)) {
      return fmt::format("SERVER_ERROR flag {} is not supported", letter);
    }
    const auto index = static_cast<unsigned char>(letter);
    if (seen.test(index)) return "CLIENT_ERROR duplicate flag";
    seen.set(index);
    if (auto refusal = apply_flag(request, flag, options)) return refusal;
  }
  return std::nullopt;
}

}  // namespace falafel::memcached_front
