#include "checkers/linearization/counterexample.h"

#include <fmt/format.h>

#include <algorithm>

namespace falafel::checkers::linearization {

namespace {

std::string list(const Counterexample& example) {
  std::string text;
  const std::size_t count = example.prefix.size();
  const std::size_t omitted = count - std::min(count, example.most_listed);
  if (omitted > 0) text += fmt::format("  ... {} earlier operations\n", omitted);
  for (std::size_t index = omitted; index < count; ++index) {
    text += fmt::format("  {}. {}\n", index + 1, example.describe(example.prefix[index]));
  }
  return text;
}

}  // namespace

std::string explain_violation(const Counterexample& example) {
  std::string text = fmt::format(
      "{}: no order of its {} operations is correct. "
      "The longest correct prefix has {} operations:\n{}"
      "Now {}. The following operation must come next, before it returns at {}, but its "
      "answer is wrong:\n  {}\n",
      example.object, example.operations, example.prefix.size(), list(example), example.state,
      example.first_return_time, example.describe(example.unfitting.front()));
  if (example.unfitting.size() == 1) return text;
  text += "Ordering these concurrent operations first, in any order, does not help:\n";
  for (const std::size_t position : example.unfitting.subspan(1)) {
    text += fmt::format("  {}\n", example.describe(position));
  }
  return text;
}

std::string explain_undecided(const Undecided& undecided) {
  return fmt::format(
      "{}: the search for a correct order of its {} operations ended without a result at the limit "
      "of {} ({} of {} {} are undecided). Its longest order passes {} of {} returns",
      undecided.object, undecided.operations, undecided.limit, undecided.undecided,
      undecided.objects, undecided.plural, undecided.passed, undecided.returns);
}

}  // namespace falafel::checkers::linearization
