#include "checkers/linearization/counterexample.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

namespace falafel::checkers::linearization {

namespace {

// Returns the key's value after the operations, which are known to be correct; nullopt: the key is
// absent.
std::optional<std::string> value_after(std::span<const Operation> history,
                                       std::span<const std::size_t> order, bool initially_empty) {
  std::optional<std::string> value;
  if (initially_empty) value.emplace();
  for (const std::size_t position : order) {
    const Operation& operation = history[position];
    switch (operation.kind) {
      case OperationKind::get: break;
      case OperationKind::set: value = operation.value; break;
      case OperationKind::remove: value.reset(); break;
      case OperationKind::compare_and_swap:
        if (value == operation.expected) value = operation.value;
        break;
      case OperationKind::append: *value += operation.value; break;
    }
  }
  return value;
}

std::string list(std::span<const Operation> history, std::span<const std::size_t> order,
                 std::size_t most_listed) {
  std::string text;
  const std::size_t omitted = order.size() - std::min(order.size(), most_listed);
  if (omitted > 0) text += fmt::format("  ... {} earlier operations\n", omitted);
  for (std::size_t index = omitted; index < order.size(); ++index) {
    fmt::format_to(std::back_inserter(text), "  {}. {}\n", index + 1,
                   describe(history[order[index]]));
  }
  return text;
}

}  // namespace

std::string explain_violation(std::span<const Operation> history,
                              std::span<const std::size_t> prefix,
                              std::span<const std::size_t> unfitting, std::size_t operations,
                              std::size_t most_listed, bool initially_empty) {
  const Operation& first = history[unfitting.front()];
  const auto value = value_after(history, prefix, initially_empty);
  std::string text = fmt::format(
      "key {}: no order of its {} operations is correct. "
      "The longest correct prefix has {} operations:\n{}"
      "Now the key {}. The following operation must come next, before it returns at {}, but its "
      "answer is wrong:\n  {}\n",
      quote(first.key), operations, prefix.size(), list(history, prefix, most_listed),
      value ? fmt::format("is {}", quote(*value)) : "is absent", first.return_time,
      describe(first));
  if (unfitting.size() == 1) return text;
  text += "Ordering these concurrent operations first, in any order, does not help:\n";
  for (const std::size_t position : unfitting.subspan(1)) {
    fmt::format_to(std::back_inserter(text), "  {}\n", describe(history[position]));
  }
  return text;
}

}  // namespace falafel::checkers::linearization
