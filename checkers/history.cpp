#include "checkers/history.h"

#include <fmt/format.h>

#include <utility>

#include "fabric/fabric.h"

namespace falafel::checkers {

namespace {

constexpr std::size_t longest_quotation_bytes = 60;

bool is_plain(unsigned char byte) { return byte >= 0x20U && byte < 0x7fU; }

// Describes what the client requested.
std::string describe_request(const Operation& operation) {
  const std::string key = quote(operation.key);
  switch (operation.kind) {
    case OperationKind::get: return fmt::format("get {}", key);
    case OperationKind::set: return fmt::format("set {} to {}", key, quote(operation.value));
    case OperationKind::remove: return fmt::format("delete {}", key);
    case OperationKind::compare_and_swap:
      return fmt::format("compare-and-swap {} from {} to {}", key,
                         operation.expected ? quote(*operation.expected) : "absent",
                         quote(operation.value));
    case OperationKind::append: return fmt::format("append {} to {}", quote(operation.value), key);
  }
  return "unknown operation";
}

std::string describe_answer(const Operation& operation) {
  if (operation.answer != Answer::found) return std::string(to_string(operation.answer));
  return fmt::format("found {}", quote(operation.value));
}

}  // namespace

std::string_view to_string(OperationKind kind) {
  switch (kind) {
    case OperationKind::get: return "get";
    case OperationKind::set: return "set";
    case OperationKind::remove: return "delete";
    case OperationKind::compare_and_swap: return "compare-and-swap";
    case OperationKind::append: return "append";
  }
  return "unknown operation";
}

std::string_view to_string(Answer answer) {
  switch (answer) {
    case Answer::indeterminate: return "indeterminate";
    case Answer::refused: return "refused";
    case Answer::found: return "found";
    case Answer::not_found: return "not found";
    case Answer::stored: return "stored";
    case Answer::deleted: return "deleted";
    case Answer::swapped: return "swapped";
    case Answer::not_swapped: return "not swapped";
  }
  return "unknown answer";
}

bool can_answer(OperationKind kind, Answer answer) {
  if (answer == Answer::indeterminate || answer == Answer::refused) return true;
  switch (kind) {
    case OperationKind::get: return answer == Answer::found || answer == Answer::not_found;
    case OperationKind::set:
    case OperationKind::append: return answer == Answer::stored;
    case OperationKind::remove: return answer == Answer::deleted || answer == Answer::not_found;
    case OperationKind::compare_and_swap:
      return answer == Answer::swapped || answer == Answer::not_swapped;
  }
  return false;
}

std::string quote(std::string_view bytes) {
  std::string text = "\"";
  for (const char character : bytes.substr(0, longest_quotation_bytes)) {
    const auto byte = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') {
      text += {'\\', character};
    } else if (is_plain(byte)) {
      text += character;
    } else {
      text += fmt::format("\\x{:02x}", byte);
    }
  }
  text += '"';
  if (bytes.size() > longest_quotation_bytes) {
    text += fmt::format("... ({} bytes)", bytes.size());
  }
  return text;
}

std::string describe(const Operation& operation) {
  const bool returns = operation.answer != Answer::indeterminate;
  const std::string return_time =
      returns ? fmt::format("return {}", operation.return_time) : "no return";
  return fmt::format("client {}: {}, {} (call {}, {})", operation.client,
                     describe_request(operation), describe_answer(operation), operation.call_time,
                     return_time);
}

std::size_t History::call(std::uint64_t time, std::uint32_t client, OperationKind kind,
                          std::string_view key, std::string_view value) {
  if (size_ == operations_.size()) operations_.emplace_back();
  Operation& operation = operations_[size_];
  operation.client = client;
  operation.kind = kind;
  operation.answer = Answer::indeterminate;
  operation.key.assign(key);
  operation.value.assign(value);
  operation.expected.reset();
  operation.call_time = time;
  operation.return_time = 0;
  return size_++;
}

std::size_t History::call_compare_and_swap(std::uint64_t time, std::uint32_t client,
                                           std::string_view key,
                                           std::optional<std::string_view> expected,
                                           std::string_view value) {
  const std::size_t operation = call(time, client, OperationKind::compare_and_swap, key, value);
  if (expected) operations_[operation].expected.emplace(*expected);
  return operation;
}

void History::complete(std::uint64_t time, std::size_t operation, Answer answer,
                       std::string_view value) {
  FALAFEL_ASSERT(operation < size_, "operation {} does not exist; the history has {}", operation,
                 size_);
  Operation& completed = operations_[operation];
  FALAFEL_ASSERT(completed.answer == Answer::indeterminate, "operation completed twice: {}",
                 describe(completed));
  FALAFEL_ASSERT(can_answer(completed.kind, answer), "{} cannot be answered with {}",
                 describe(completed), to_string(answer));
  completed.answer = answer;
  completed.return_time = time;
  if (completed.kind == OperationKind::get) completed.value.assign(value);
}

}  // namespace falafel::checkers
