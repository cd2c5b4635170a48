#include "checkers/tag_order.h"

#include <fmt/format.h>

#include "checkers/memory_view.h"

namespace falafel::checkers {
namespace {

using engine::Entry;

// This file reads tags from the layout of the word, so it does not repeat a mistake of those who
// change them.
constexpr std::uint64_t flag_bits = 3;
constexpr std::uint32_t tag_position = 2;

// An empty entry with a new flag is frozen or locked.
bool only_sets_flags(Entry previous, Entry next) {
  const std::uint64_t before = previous.word() & flag_bits;
  const std::uint64_t after = next.word() & flag_bits;
  const bool freezes = previous.is_empty() && !previous.is_deleted() && next.is_deleted();
  const bool sets_some = before != after && (before & ~after) == 0;
  return previous.reference() == next.reference() && sets_some && !freezes;
}

std::uint64_t tag_after(std::uint64_t tag, std::uint32_t tag_bits) {
  const std::uint64_t period = std::uint64_t{1} << tag_bits;
  const std::uint64_t counted = tag % period;
  return tag - counted + (counted + 1) % period;
}

}  // namespace

void TagOrder::on_changed(std::uint64_t slot, Entry previous, Entry next, std::uint64_t step) {
  if (judgement_.verdict != Verdict::holds) return;
  const std::uint64_t before = (previous.word() & 0xffff'ffff) >> tag_position;
  const std::uint64_t after = (next.word() & 0xffff'ffff) >> tag_position;
  const bool keeps = only_sets_flags(previous, next);
  const std::uint64_t expected = keeps ? before : tag_after(before, geometry_.tag_bits);
  if (after == expected) return;
  judgement_.verdict = Verdict::violated;
  judgement_.explanation = fmt::format(
      "step {}: slot {} changes from ({}) to ({}); a change that {} must leave the tag {}", step,
      slot, describe(previous, geometry_), describe(next, geometry_),
      keeps ? "only sets a flag" : "does more than set a flag", expected);
  judgement_.slots = {slot};
  judgement_.step = step;
}

}  // namespace falafel::checkers
