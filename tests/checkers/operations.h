// Constructors of operations for histories in tests. The key is "x" unless on() changes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "checkers/history.h"

namespace falafel::checkers_test {

using checkers::Answer;
using checkers::Operation;
using checkers::OperationKind;

struct Times {
  std::uint64_t call_time;
  std::uint64_t return_time;
};

inline Operation operation(std::uint32_t client, Times times, OperationKind kind, Answer answer,
                           std::string value) {
  return {.client = client,
          .kind = kind,
          .answer = answer,
          .key = "x",
          .value = std::move(value),
          .call_time = times.call_time,
          .return_time = times.return_time};
}

inline Operation found(std::uint32_t client, Times times, std::string value) {
  return operation(client, times, OperationKind::get, Answer::found, std::move(value));
}
inline Operation not_found(std::uint32_t client, Times times) {
  return operation(client, times, OperationKind::get, Answer::not_found, "");
}
inline Operation stored(std::uint32_t client, Times times, std::string value) {
  return operation(client, times, OperationKind::set, Answer::stored, std::move(value));
}
inline Operation appended(std::uint32_t client, Times times, std::string value) {
  return operation(client, times, OperationKind::append, Answer::stored, std::move(value));
}
inline Operation deleted(std::uint32_t client, Times times) {
  return operation(client, times, OperationKind::remove, Answer::deleted, "");
}
inline Operation nothing_deleted(std::uint32_t client, Times times) {
  return operation(client, times, OperationKind::remove, Answer::not_found, "");
}

inline Operation swapped(std::uint32_t client, Times times, std::optional<std::string> expected,
                         std::string value) {
  Operation result =
      operation(client, times, OperationKind::compare_and_swap, Answer::swapped, std::move(value));
  result.expected = std::move(expected);
  return result;
}
inline Operation not_swapped(std::uint32_t client, Times times, std::optional<std::string> expected,
                             std::string value) {
  Operation result = swapped(client, times, std::move(expected), std::move(value));
  result.answer = Answer::not_swapped;
  return result;
}

// The operation without its answer.
inline Operation lost(Operation operation) {
  operation.answer = Answer::indeterminate;
  operation.return_time = 0;
  return operation;
}

inline Operation on(std::string key, Operation operation) {
  operation.key = std::move(key);
  return operation;
}

}  // namespace falafel::checkers_test
