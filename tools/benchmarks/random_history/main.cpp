// Prints a random history of an object as JSON Lines, for `falafel check --format specification`.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "checkers/specifications/priority_queue.h"
#include "checkers/specifications/queue.h"
#include "checkers/specifications/register.h"
#include "checkers/specifications/set.h"
#include "checkers/specifications/stack.h"
#include "fabric/random.h"
#include "tools/benchmarks/random_history/random_object_history.h"

namespace falafel::checkers::generators {
namespace {

using specifications::PriorityQueue;
using specifications::Queue;
using specifications::Register;
using specifications::Set;
using specifications::Stack;

template <typename S>
std::string fields_of_sequence(const Call<S>& call) {
  if (const auto* const push = std::get_if<typename S::Push>(&call.operation)) {
    return fmt::format(R"("operation": "push", "value": {})", push->value);
  }
  std::string pop = R"("operation": "pop")";
  if (!call.result) return pop;
  return pop + (*call.result ? fmt::format(R"(, "result": {})", **call.result)
                             : std::string(R"(, "result": null)"));
}

std::string fields_of(const Call<Queue>& call) { return fields_of_sequence(call); }
std::string fields_of(const Call<Stack>& call) { return fields_of_sequence(call); }

std::string fields_of(const Call<PriorityQueue>& call) { return fields_of_sequence(call); }

std::string fields_of(const Call<Register>& call) {
  if (const auto* const write = std::get_if<Register::Write>(&call.operation)) {
    return fmt::format(R"("operation": "write", "value": {})", write->value);
  }
  const std::string read = R"("operation": "read")";
  return call.result ? fmt::format(R"({}, "result": {})", read, *call.result) : read;
}

std::string fields_of(const Call<Set>& call) {
  const std::string name = std::holds_alternative<Set::Add>(call.operation)      ? "add"
                           : std::holds_alternative<Set::Remove>(call.operation) ? "remove"
                                                                                 : "contains";
  const std::uint64_t value = std::visit([](const auto& any) { return any.value; }, call.operation);
  const std::string fields = fmt::format(R"("operation": "{}", "value": {})", name, value);
  return call.result ? fmt::format(R"({}, "result": {})", fields, *call.result) : fields;
}

template <typename S>
void print(const std::string& name, const std::string& head, const ObjectHistoryOptions& options,
           std::uint64_t seed) {
  fabric::RandomGenerator random(seed);
  fmt::print("{{\"specification\": \"{}\"{}}}\n", name, head);
  for (const Call<S>& call : random_object_history<S>(options, random)) {
    const std::string answer =
        call.result ? fmt::format(R"("return": {}, "outcome": "answered")", call.return_time)
                    : std::string(R"("outcome": "indeterminate")");
    fmt::print("{{\"client\": {}, {}, \"call\": {}, {}}}\n", call.client, fields_of(call),
               call.call_time, answer);
  }
}

void print_history(const std::string& name, const ObjectHistoryOptions& options,
                   std::uint64_t seed) {
  if (name == "queue") return print<Queue>(name, "", options, seed);
  if (name == "stack") return print<Stack>(name, "", options, seed);
  if (name == "priority_queue") return print<PriorityQueue>(name, "", options, seed);
  if (name == "set") return print<Set>(name, "", options, seed);
  print<Register>(name, R"(, "initial": 0)", options, seed);
}

}  // namespace
}  // namespace falafel::checkers::generators

int main(int argument_count, char** arguments) {
  CLI::App app("Prints a random history as JSON Lines");
  std::string object;
  falafel::checkers::generators::ObjectHistoryOptions options{
      .operations = 100'000, .clients = 32, .unanswered_permille = 100};
  std::uint64_t seed = 1;
  app.add_option("object", object, "queue, stack, priority_queue, register or set")
      ->required()
      ->check(CLI::IsMember({"queue", "stack", "priority_queue", "register", "set"}));
  app.add_option("--operations", options.operations)->capture_default_str();
  app.add_option("--clients", options.clients, "all have an operation in flight all the time")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--unanswered-permille", options.unanswered_permille,
                 "share of the operations without an answer")
      ->capture_default_str();
  app.add_option("--seed", seed)->capture_default_str();
  app.add_flag("--violation", options.plants_violation, "plant one violation");
  CLI11_PARSE(app, argument_count, arguments);
  falafel::checkers::generators::print_history(object, options, seed);
  return 0;
}
