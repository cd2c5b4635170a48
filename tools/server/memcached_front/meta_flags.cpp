#include "tools/server/memcached_front/meta_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>

#include "tools/server/memcached_front/words.h"

namespace falafel::memcached_front {
namespace {

using Kind = Request::Kind;
using Refusal = std::optional<std::string>;

constexpr std::size_t longest_opaque_bytes = 32;

// The flags that the front understands. All others that memcached has need a count of accesses, a
// value that is stale, or a delete that depends on the value.
constexpr std::string_view supported_flags(Kind kind) {
  switch (kind) {
    case Kind::meta_get: return "cfkOqstTv";
    case Kind::meta_set: return "CFkMOqT";
    case Kind::meta_arithmetic: return "CDJkMNOqv";
    default: return "kOq";
  }
}

constexpr std::string_view flags_of_memcached(Kind kind) {
  switch (kind) {
    case Kind::meta_get: return "bcfhklOqstvENRT";
    case Kind::meta_set: return "bcCFIkOqsSTM";
    case Kind::meta_arithmetic: return "bcCDEJkMNOqtTv";
    default: return "bCIkOqTx";
  }
}

bool has(std::string_view flags, char letter) { return flags.find(letter) != flags.npos; }

Refusal invalid_argument(std::string_view flag) {
  return fmt::format("CLIENT_ERROR invalid argument of flag {}", flag.substr(0, 1));
}

template <typename Number, typename Target>
Refusal apply_number(std::string_view flag, Target& target) {
  const auto number = to_number<Number>(flag.substr(1));
  if (!number) return invalid_argument(flag);
  target = *number;
  return std::nullopt;
}

std::optional<StoreMode> to_store_mode(std::string_view word) {
  struct Name {
    std::string_view word;
    StoreMode mode;
  };
  using enum StoreMode;
  constexpr std::array names{
      Name{"E", add},     Name{"add", add},         Name{"A", append},  Name{"append", append},
      Name{"P", prepend}, Name{"prepend", prepend}, Name{"R", replace}, Name{"replace", replace},
      Name{"S", set},     Name{"set", set}};
  const auto* const found = std::ranges::find_if(names, [&](const Name& name) {
    return name.word == word || (word.size() == 1 && name.word.size() == 1 &&
                                 (word.front() ^ name.word.front()) == 'a' - 'A');
  });
  return found == names.end() ? std::nullopt : std::optional(found->mode);
}

// Returns whether the mode decrements.
std::optional<bool> to_decrements(std::string_view word) {
  constexpr std::array<std::string_view, 4> increments{"I", "i", "incr", "+"};
  constexpr std::array<std::string_view, 4> decrements{"D", "d", "decr", "-"};
  if (std::ranges::find(increments, word) != increments.end()) return false;
  if (std::ranges::find(decrements, word) != decrements.end()) return true;
  return std::nullopt;
}

Refusal apply_mode(Request& request, std::string_view flag) {
  const std::string_view word = flag.substr(1);
  if (request.kind == Kind::meta_arithmetic) {
    const auto decrements = to_decrements(word);
    if (!decrements) return "CLIENT_ERROR invalid mode for ma";
    request.arithmetic.decrements = *decrements;
    return std::nullopt;
  }
  const auto mode = to_store_mode(word);
  if (!mode) return "CLIENT_ERROR invalid mode for ms";
  request.mode = *mode;
  return std::nullopt;
}

Refusal apply_flag(Request& request, std::string_view flag, const ParserOptions& options) {
  const std::string_view argument = flag.substr(1);
  switch (flag.front()) {
    case 'C': return apply_number<std::uint64_t>(flag, request.cas);
    case 'D': return apply_number<std::uint64_t>(flag, request.arithmetic.delta);
    case 'F': return apply_number<std::uint32_t>(flag, request.flags);
    case 'J': return apply_number<std::uint64_t>(flag, request.arithmetic.initial);
    case 'M': return apply_mode(request, flag);
    case 'O':
      if (argument.size() > longest_opaque_bytes) return invalid_argument(flag);
      return std::nullopt;
    case 'N':
      // an absent key gets 0, unless the flag J has another number
      if (!request.arithmetic.initial) request.arithmetic.initial = 0;
      return apply_exptime(request, argument, options);
    case 'T': return apply_exptime(request, argument, options);
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
  // an initial number without N says nothing of an absent key
  if (!seen.test('N')) request.arithmetic.initial.reset();
  return std::nullopt;
}

}  // namespace falafel::memcached_front
