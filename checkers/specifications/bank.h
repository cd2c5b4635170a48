// A bank: transfers between accounts, and reads of all balances. A transfer fails only if its
// account has too little. Accounts that the initial state does not name have the balance 0. All
// balances together must be below 2^64.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>

#include "checkers/specification.h"
#include "checkers/specifications/values.h"

namespace falafel::checkers::specifications {

struct Bank {
  struct Read {
    friend bool operator==(const Read&, const Read&) = default;
  };
  struct Transfer {
    std::string from{};
    std::string to{};
    std::uint64_t amount = 0;
    friend bool operator==(const Transfer&, const Transfer&) = default;
  };
  // The accounts whose balance is not 0.
  using State = std::map<std::string, std::uint64_t>;
  using Operation = std::variant<Read, Transfer>;
  // The balances that a read found, or whether a transfer succeeded.
  using Result = std::variant<bool, State>;

  static State initial() { return {}; }

  static bool apply(State& state, const Operation& operation, const Result* result) {
    const auto* const transfer = std::get_if<Transfer>(&operation);
    if (transfer == nullptr) return result == nullptr || *result == Result(state);
    const auto from = state.find(transfer->from);
    const std::uint64_t balance = from == state.end() ? 0 : from->second;
    const bool succeeds = balance >= transfer->amount;
    if (succeeds) move(state, *transfer);
    return result == nullptr || *result == Result(succeeds);
  }

  static bool only_reads(const Operation& operation, const Result* result) {
    return std::holds_alternative<Read>(operation) ||
           (result != nullptr && *result == Result(false));
  }

  static std::string describe(const Operation& operation, const Result* result) {
    const auto* const transfer = std::get_if<Transfer>(&operation);
    if (transfer != nullptr) {
      return "transfer " + std::to_string(transfer->amount) + " from " +
             describe_value(transfer->from) + " to " + describe_value(transfer->to) + " " +
             describe_yes_or_no(result == nullptr ? nullptr : std::get_if<bool>(result));
    }
    const State* const found = result == nullptr ? nullptr : std::get_if<State>(result);
    return "read -> " + (found == nullptr ? "?" : describe(*found));
  }
  static std::string describe(const State& state) {
    std::string text;
    for (const auto& [account, balance] : state) {
      text += (text.empty() ? "" : ", ") + account + ": " + std::to_string(balance);
    }
    return "{" + text + "}";
  }

 private:
  static void move(State& state, const Transfer& transfer) {
    if (transfer.amount == 0) return;
    state[transfer.from] -= transfer.amount;
    state[transfer.to] += transfer.amount;
    if (state[transfer.from] == 0) state.erase(transfer.from);
  }
};
static_assert(Specification<Bank>);

}  // namespace falafel::checkers::specifications
