#include "tools/command_line/acceptance/generated_programs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <utility>

#include "tools/command_line/acceptance/rules/axiomatic_model.h"
#include "tools/command_line/acceptance/rules/small_program.h"

namespace falafel::acceptance {
namespace {

using fabric::word_bytes;
using fabric::WorkRequest;
using litmus::Call;
using litmus::SmallOutcome;
using litmus::SmallProgram;
using litmus::Verb;

// Programs run side by side, each on two words of its own.
constexpr std::uint64_t places = 16;
constexpr std::uint64_t place_bytes = litmus::small_program_words * word_bytes;
constexpr std::uint64_t most_calls = 3;
constexpr std::uint64_t words_offset = 4'096;  // of the other side's memory
// In this side's memory: zeros, values that calls write, words that calls find, words at the end.
constexpr std::uint64_t zeros_offset = 0;
constexpr std::uint64_t values_offset = 4'096;
constexpr std::uint64_t found_offset = 8'192;
constexpr std::uint64_t end_offset = 16'384;

struct Known {
  SmallProgram program;
  std::set<SmallOutcome> allowed;
  std::set<SmallOutcome> seen;
};

class GeneratedPrograms {
 public:
  GeneratedPrograms(Peer& peer, std::vector<Known>& programs)
      : peer_(peer), programs_(programs), clients_{peer.connect(), peer.connect()} {
    peer.memory().write(zeros_offset, std::vector<std::byte>(places * place_bytes));
  }

  Observed run(const Budget& budget) {
    const std::uint64_t end_ns = peer_.host().now_ns() + budget.duration_ns;
    std::uint64_t runs = 0;
    std::size_t next = 0;
    while (runs < budget.most_repetitions * places && peer_.host().now_ns() < end_ns) {
      std::array<std::size_t, places> chosen{};
      for (std::size_t& index : chosen) index = next++ % programs_.size();
      run_once(chosen);
      runs += places;
    }
    return observed(runs);
  }

 private:
  static std::uint64_t found_at(std::size_t client, std::uint64_t place, std::size_t call) {
    return found_offset + ((client * places + place) * most_calls + call) * word_bytes;
  }

  // The clients' words are zero for both queue pairs, because the READ settles the WRITE.
  void clear() {
    constexpr auto bytes = static_cast<std::uint32_t>(places * place_bytes);
    clients_[0]->succeed({unsignalled(clients_[0]->write(zeros_offset, words_offset, bytes)),
                          clients_[0]->read(end_offset, words_offset, bytes)});
  }

  WorkRequest request_of(const Call& call, std::size_t client, std::uint64_t place,
                         std::size_t number) {
    Link& link = *clients_[client];
    const std::uint64_t value = litmus::value_of(client, number);
    const std::uint64_t found = found_at(client, place, number);
    const std::uint64_t source = found - found_offset + values_offset;
    const std::uint64_t word = words_offset + place * place_bytes + call.word * word_bytes;
    WorkRequest request = link.read(found, word, word_bytes);
    switch (call.verb) {
      case Verb::read: break;
      case Verb::write:
        peer_.memory().store(source, value);
        request = link.write(source, word, word_bytes);
        break;
      case Verb::compare_and_swap: request = link.swap(found, word, 0, value); break;
      case Verb::fetch_and_add: request = link.add(found, word, value); break;
    }
    request.fenced = call.is_fenced;
    request.signalled = false;
    return request;
  }

  void post(std::size_t client, std::uint64_t place, const SmallProgram& program) {
    if (client >= program.clients.size()) return;
    std::vector<WorkRequest> chain;
    const litmus::Calls& calls = program.clients[client];
    for (std::size_t number = 0; number < calls.size(); ++number)
      chain.push_back(request_of(calls[number], client, place, number));
    clients_[client]->post(chain);
  }

  // Reads what is left. The READ of each queue pair settles its WRITEs before the last READ.
  void read_end() {
    constexpr auto bytes = static_cast<std::uint32_t>(places * place_bytes);
    for (const auto& client : clients_)
      client->post({fenced(client->read(end_offset, words_offset, bytes))});
    for (const auto& client : clients_) {
      if (const auto status = client->next().status; status != fabric::CompletionStatus::success)
        throw Mismatch{fmt::format("a request completed with: {}", to_string(status))};
    }
    clients_[0]->succeed({clients_[0]->read(end_offset, words_offset, bytes)});
  }

  void run_once(const std::array<std::size_t, places>& chosen) {
    clear();
    // The client that comes first varies, and the number of programs that it posts in a row.
    const std::size_t first = peer_.host().random(2);
    const std::uint64_t run = 1 + peer_.host().random(places);
    for (std::uint64_t begin = 0; begin < places; begin += run) {
      const std::uint64_t end = std::min(begin + run, places);
      for (const std::size_t client : {first, 1 - first}) {
        for (std::uint64_t place = begin; place < end; ++place)
          post(client, place, programs_[chosen[place]].program);
      }
    }
    read_end();
    for (std::uint64_t place = 0; place < places; ++place) examine(place, programs_[chosen[place]]);
  }

  void examine(std::uint64_t place, Known& known) {
    SmallOutcome outcome;
    for (std::uint64_t word = 0; word < litmus::small_program_words; ++word)
      outcome.push_back(peer_.memory().load(end_offset + place * place_bytes + word * word_bytes));
    for (std::size_t client = 0; client < known.program.clients.size(); ++client) {
      const litmus::Calls& calls = known.program.clients[client];
      for (std::size_t number = 0; number < calls.size(); ++number) {
        if (litmus::reads(calls[number].verb))
          outcome.push_back(peer_.memory().load(found_at(client, place, number)));
      }
    }
    if (!known.allowed.contains(outcome)) {
      ++violations_;
      if (first_violation_.empty())
        first_violation_ =
            fmt::format("{} gave {:x}", known.program.describe(), fmt::join(outcome, " "));
    }
    known.seen.insert(std::move(outcome));
  }

  Observed observed(std::uint64_t runs) const {
    std::uint64_t allowed = 0;
    std::uint64_t seen = 0;
    for (const Known& known : programs_) {
      allowed += known.allowed.size();
      seen += known.seen.size();
    }
    Observed observed{.repetitions = runs,
                      .outcomes = {{"programs", programs_.size()},
                                   {"outcomes that the rules allow", allowed},
                                   {"of them seen", seen - violations_kinds()},
                                   {"outcomes that they forbid", violations_, true}}};
    if (!first_violation_.empty()) observed.outcomes.back().name += " (" + first_violation_ + ")";
    return observed;
  }

  std::uint64_t violations_kinds() const {
    std::uint64_t kinds = 0;
    for (const Known& known : programs_) {
      kinds += static_cast<std::uint64_t>(std::ranges::count_if(
          known.seen, [&](const auto& outcome) { return !known.allowed.contains(outcome); }));
    }
    return kinds;
  }

  Peer& peer_;
  std::vector<Known>& programs_;
  std::array<std::unique_ptr<Link>, 2> clients_;
  std::uint64_t violations_ = 0;
  std::string first_violation_;
};

std::vector<Known> known_programs() {
  std::vector<Known> programs;
  const auto add = [&](const SmallProgram& program) {
    programs.push_back(
        {.program = program, .allowed = litmus::allowed_outcomes(program), .seen = {}});
  };
  litmus::for_each_program_of_clients(2, 2, add);
  litmus::for_each_program_of_clients(3, 1, add);
  return programs;
}

Observed run_generated(Peer& peer, const Budget& budget) {
  if (peer.greeting().atomic_capability == 0) throw NotTried{"the device has no atomics"};
  std::vector<Known> programs = known_programs();
  return GeneratedPrograms(peer, programs).run(budget);
}

}  // namespace

Shape generated_programs_shape() {
  return {"all programs of two clients with 2 and 2, or 3 and 1 requests on two words",
          "rules 5 to 9, 11: docs/litmus.md, generated programs",
          "never an outcome that the axioms forbid", run_generated};
}

}  // namespace falafel::acceptance
