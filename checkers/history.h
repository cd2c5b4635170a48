// Histories: operations on a key-value store, each with its call time and return time.
//
// Times are 64-bit numbers that increase; a counter of events orders more operations than a coarse
// clock. An operation precedes another if it returns before the other is called. Two operations are
// concurrent if one returns at the moment the other is called. This also applies to operations of
// one client: a client may have several operations in flight, and client numbers are for display
// only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace falafel::checkers {

enum class OperationKind : std::uint8_t {
  get,
  set,
  remove,
  compare_and_swap,  // sets the value if the key has the expected one
  append,            // appends to the value
};
std::string_view to_string(OperationKind kind);

enum class Answer : std::uint8_t {
  indeterminate,  // no answer: the operation takes effect at some time after the call, or never
  refused,      // had no effect and reveals nothing about the store; checkers ignore the operation
  found,        // get: the operation has the value
  not_found,    // get, remove
  stored,       // set, append
  deleted,      // remove: the key was present
  swapped,      // compare_and_swap
  not_swapped,  // compare_and_swap: the key did not have the expected value
};
std::string_view to_string(Answer answer);

// Returns whether an operation of this kind may give a key the operation's value.
constexpr bool stores_value(OperationKind kind) {
  return kind == OperationKind::set || kind == OperationKind::compare_and_swap;
}

// Returns whether an operation of this kind may have this answer.
bool can_answer(OperationKind kind, Answer answer);

struct Operation {
  std::uint32_t client = 0;
  OperationKind kind = OperationKind::get;
  Answer answer = Answer::indeterminate;
  std::string key{};    // keys and values are arbitrary bytes
  std::string value{};  // the value written; get: the value found
  // compare_and_swap: the value that the key must have; nullopt: the key must be absent.
  std::optional<std::string> expected{};
  std::uint64_t call_time = 0;
  std::uint64_t return_time = 0;  // at or after call_time; ignored if indeterminate

  friend bool operator==(const Operation&, const Operation&) = default;
};

// Describes the operation with its times: "client 3: set "a" to "1", stored (call 10, return 15)".
// Long strings are shortened; bytes other than printable ASCII are escaped.
std::string describe(const Operation& operation);

// Quotes a string in the same way as describe().
std::string quote(std::string_view bytes);

// A history under construction. An operation that never completes stays indeterminate.
//
// clear() keeps the memory, including that of long keys and values, for reuse.
class History {
 public:
  // Returns the operation's number for complete(). `value` is the value written, if any.
  std::size_t call(std::uint64_t time, std::uint32_t client, OperationKind kind,
                   std::string_view key, std::string_view value = {});
  std::size_t call_compare_and_swap(std::uint64_t time, std::uint32_t client, std::string_view key,
                                    std::optional<std::string_view> expected,
                                    std::string_view value);

  // `value` is the value that a get found. `indeterminate` is a valid answer.
  void complete(std::uint64_t time, std::size_t operation, Answer answer,
                std::string_view value = {});

  std::span<const Operation> operations() const { return {operations_.data(), size_}; }
  void clear() { size_ = 0; }

 private:
  std::vector<Operation> operations_;  // entries from size_ on are kept for reuse
  std::size_t size_ = 0;
};

}  // namespace falafel::checkers
