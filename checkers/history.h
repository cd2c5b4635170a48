// Histories: the operations on a key-value store, each with the times of its call and of its return.
//
// Times are any 64-bit numbers that grow; a counter of events says more than a coarse clock. An
// operation comes before another if it returned before the other was called. Operations that touch
// (one's return is the other's call) count as concurrent, those of one client too: clients may have
// several operations under way, and their numbers matter only to people.
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
  append,            // extends the value
};
std::string_view to_string(OperationKind kind);

enum class Answer : std::uint8_t {
  indeterminate,  // none: takes effect at any time after the call, or never
  refused,      // nothing was done and nothing is told of the store; checkers ignore the operation
  found,        // get: the value is in the operation
  not_found,    // get, remove
  stored,       // set, append
  deleted,      // remove: the key was present
  swapped,      // compare_and_swap
  not_swapped,  // compare_and_swap: the key did not have the expected value
};
std::string_view to_string(Answer answer);

// Whether an operation of this kind may have this answer.
bool can_answer(OperationKind kind, Answer answer);

struct Operation {
  std::uint32_t client = 0;
  OperationKind kind = OperationKind::get;
  Answer answer = Answer::indeterminate;
  std::string key{};    // any bytes, as all strings here
  std::string value{};  // what is written; get: what was found
  // compare_and_swap: the value that the key must have; none: it must be absent.
  std::optional<std::string> expected{};
  std::uint64_t call_time = 0;
  std::uint64_t return_time = 0;  // not before the call; without meaning if indeterminate

  friend bool operator==(const Operation&, const Operation&) = default;
};

// In words, with times: "client 3: set "a" to "1", stored (call 10, return 15)". Long strings are
// shortened, bytes that are not printable ASCII are escaped.
std::string describe(const Operation& operation);

// A string as describe() quotes it.
std::string quote(std::string_view bytes);

// A history that is being recorded. An operation that never completes stays indeterminate.
//
// Memory is reused after clear(), that of long keys and values too.
class History {
 public:
  // The operation's number, with which it is completed. `value` is what is written, if anything.
  std::size_t call(std::uint64_t time, std::uint32_t client, OperationKind kind,
                   std::string_view key, std::string_view value = {});
  std::size_t call_compare_and_swap(std::uint64_t time, std::uint32_t client, std::string_view key,
                                    std::optional<std::string_view> expected,
                                    std::string_view value);

  // `value` is what a get found. indeterminate is an answer, too.
  void complete(std::uint64_t time, std::size_t operation, Answer answer,
                std::string_view value = {});

  std::span<const Operation> operations() const { return {operations_.data(), size_}; }
  void clear() { size_ = 0; }

 private:
  std::vector<Operation> operations_;  // those from size_ on are kept for their memory
  std::size_t size_ = 0;
};

}  // namespace falafel::checkers
