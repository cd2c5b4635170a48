// Small programs: a few requests of up to two clients, and accesses of the server's processor, on
// two words of the server. They are too many to be written down, so they are generated.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace falafel::litmus {

enum class Verb : std::uint8_t { read, write, compare_and_swap, fetch_and_add };

// A request of a client, or an access of the processor, which has loads and stores only.
struct Call {
  Verb verb{};
  std::uint64_t word = 0;
  bool is_fenced = false;

  friend auto operator<=>(const Call&, const Call&) = default;
};

using Calls = std::vector<Call>;

constexpr bool reads(Verb verb) { return verb != Verb::write; }
constexpr bool is_atomic(Verb verb) {
  return verb == Verb::compare_and_swap || verb == Verb::fetch_and_add;
}

inline constexpr std::uint64_t small_program_words = 2;

// Each client posts its calls in one chain on a queue pair of its own.
struct SmallProgram {
  std::vector<Calls> clients;
  Calls processor;

  std::string describe() const;
};

// The value that a call writes, swaps in (for 0) or adds. Each call has a bit of its own, so a word
// tells which calls changed it.
constexpr std::uint64_t value_of(std::size_t party, std::size_t call) {
  return std::uint64_t{1} << (4 * party + call);
}

// The words at the end, then what the calls of the clients and of the processor read, in order.
using SmallOutcome = std::vector<std::uint64_t>;

// Calls `see` with each program of two clients with at most these numbers of calls, or of one
// client if the second number is 0. It sees one of the programs that differ only in the names of
// the words or of the clients. A fence is left out where no READ or atomic is before it.
void for_each_program_of_clients(std::size_t first_calls, std::size_t second_calls,
                                 const std::function<void(const SmallProgram&)>& see);

// Likewise, of one client and the server's processor.
void for_each_program_with_processor(std::size_t client_calls, std::size_t processor_calls,
                                     const std::function<void(const SmallProgram&)>& see);

}  // namespace falafel::litmus
