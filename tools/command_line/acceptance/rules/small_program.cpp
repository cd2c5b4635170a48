#include "tools/command_line/acceptance/rules/small_program.h"

#include <fmt/format.h>
#include <algorithm>

namespace falafel::litmus {
namespace {

constexpr Verb all_verbs[] = {Verb::read, Verb::write, Verb::compare_and_swap, Verb::fetch_and_add};

std::string describe_call(const Call& call) {
  constexpr const char* names[] = {"READ", "WRITE", "CAS", "FAA"};
  return fmt::format("{}{} {}", call.is_fenced ? "fenced " : "",
                     names[static_cast<std::size_t>(call.verb)], call.word == 0 ? 'x' : 'y');
}

std::string describe_calls(const Calls& calls) {
  std::string text;
  for (const Call& call : calls) text += (text.empty() ? "" : "; ") + describe_call(call);
  return text;
}

// Appends to `all` the continuations of `calls` with at most `most` calls.
void extend_client(const Calls& calls, std::size_t most, std::vector<Calls>& all) {
  if (calls.size() == most) return;
  const bool fence_matters =
      std::ranges::any_of(calls, [](const Call& call) { return reads(call.verb); });
  for (const Verb verb : all_verbs) {
    for (std::uint64_t word = 0; word < small_program_words; ++word) {
      for (const bool is_fenced : {false, true}) {
        if (is_fenced && !fence_matters) continue;
        Calls longer = calls;
        longer.push_back({.verb = verb, .word = word, .is_fenced = is_fenced});
        all.push_back(longer);
        extend_client(longer, most, all);
      }
    }
  }
}

void extend_processor(const Calls& calls, std::size_t most, std::vector<Calls>& all) {
  if (calls.size() == most) return;
  for (const Verb verb : {Verb::read, Verb::write}) {
    for (std::uint64_t word = 0; word < small_program_words; ++word) {
      Calls longer = calls;
      longer.push_back({.verb = verb, .word = word});
      all.push_back(longer);
      extend_processor(longer, most, all);
    }
  }
}

std::vector<Calls> calls_of_a_client(std::size_t most) {
  std::vector<Calls> all;
  extend_client({}, most, all);
  return all;
}

Calls with_words_swapped(Calls calls) {
  for (Call& call : calls) call.word = 1 - call.word;
  return calls;
}

}  // namespace

std::string SmallProgram::describe() const {
  std::string text;
  for (const Calls& calls : clients) text += (text.empty() ? "" : " | ") + describe_calls(calls);
  if (!processor.empty()) text += " | CPU: " + describe_calls(processor);
  return text;
}

void for_each_program_of_clients(std::size_t first_calls, std::size_t second_calls,
                                 const std::function<void(const SmallProgram&)>& see) {
  const std::vector<Calls> firsts = calls_of_a_client(first_calls);
  std::vector<Calls> seconds = calls_of_a_client(second_calls);
  if (seconds.empty()) seconds.emplace_back();
  for (const Calls& first : firsts) {
    const Calls swapped_first = with_words_swapped(first);
    for (const Calls& second : seconds) {
      const auto program = std::pair(first, second);
      const Calls swapped_second = with_words_swapped(second);
      if (std::pair(swapped_first, swapped_second) < program) continue;
      // Both clients may have the other's calls only if those are few enough.
      const bool may_swap = first.size() <= second_calls && second.size() <= first_calls;
      if (may_swap &&
          std::min(std::pair(second, first), std::pair(swapped_second, swapped_first)) < program) {
        continue;
      }
      if (second.empty()) {
        see({.clients = {first}, .processor = {}});
      } else {
        see({.clients = {first, second}, .processor = {}});
      }
    }
  }
}

void for_each_program_with_processor(std::size_t client_calls, std::size_t processor_calls,
                                     const std::function<void(const SmallProgram&)>& see) {
  std::vector<Calls> accesses;
  extend_processor({}, processor_calls, accesses);
  for (const Calls& client : calls_of_a_client(client_calls)) {
    const Calls swapped_client = with_words_swapped(client);
    for (const Calls& processor : accesses) {
      if (std::pair(swapped_client, with_words_swapped(processor)) < std::pair(client, processor)) {
        continue;
      }
      see({.clients = {client}, .processor = processor});
    }
  }
}

}  // namespace falafel::litmus
