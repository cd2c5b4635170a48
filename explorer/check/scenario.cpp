#include "explorer/check/scenario.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "explorer/simulation_choices.h"

namespace falafel::check {
namespace {

// Limits for values in files, so that a run neither takes hours nor all memory.
constexpr std::size_t most_clients = 1'000;
constexpr std::size_t most_operations = 100'000;
constexpr std::size_t most_numbers = 10'000;

bool is_array(const nlohmann::json& json, const char* name, std::size_t most) {
  return json.contains(name) && json[name].is_array() && json[name].size() <= most;
}

bool is_list_of_numbers(const nlohmann::json& json, const char* name) {
  return is_array(json, name, most_numbers) &&
         std::ranges::all_of(json[name], &nlohmann::json::is_number_unsigned);
}

tl::expected<std::vector<DrawnOperation>, std::string> parse_client(const nlohmann::json& json) {
  if (!json.is_array() || json.size() > most_operations) {
    return tl::unexpected(fmt::format(
        "an element of \"clients\" is not an array of at most {} operations", most_operations));
  }
  std::vector<DrawnOperation> operations;
  for (const nlohmann::json& operation : json) {
    if (!operation.is_object() || !is_list_of_numbers(operation, "numbers")) {
      return tl::unexpected(
          fmt::format("an operation of \"clients\" lacks \"numbers\", at most {} unsigned numbers",
                      most_numbers));
    }
    operations.push_back(operation["numbers"].get<DrawnOperation>());
  }
  return operations;
}

const WorldScenario& best_of(const explorer::Simplifier& simplifier) {
  return world_scenario(simplifier.best());
}

// Offers a changed copy of the best scenario.
template <typename Change>
bool attempt(explorer::Simplifier& simplifier, Change change) {
  WorldScenario candidate = best_of(simplifier);
  change(candidate);
  return simplifier.attempt(candidate);
}

bool remove_clients(explorer::Simplifier& simplifier) {
  return explorer::remove_parts(
      simplifier, [&] { return best_of(simplifier).clients.size(); },
      [&](std::size_t begin, std::size_t end) {
        return attempt(simplifier, [&](WorldScenario& scenario) {
          scenario.clients.erase(scenario.clients.begin() + static_cast<std::ptrdiff_t>(begin),
                                 scenario.clients.begin() + static_cast<std::ptrdiff_t>(end));
        });
      });
}

bool remove_operations(explorer::Simplifier& simplifier) {
  bool simpler = false;
  for (std::size_t client = 0; client < best_of(simplifier).clients.size(); ++client) {
    simpler |= explorer::remove_parts(
        simplifier, [&] { return best_of(simplifier).clients[client].size(); },
        [&](std::size_t begin, std::size_t end) {
          return attempt(simplifier, [&](WorldScenario& scenario) {
            auto& operations = scenario.clients[client];
            operations.erase(operations.begin() + static_cast<std::ptrdiff_t>(begin),
                             operations.begin() + static_cast<std::ptrdiff_t>(end));
          });
        });
  }
  return simpler;
}

// Smaller values for one number, the smallest first. `number` finds it in a scenario.
template <typename Number>
bool lower(explorer::Simplifier& simplifier, Number number) {
  WorldScenario best = best_of(simplifier);
  const std::uint64_t value = number(best);
  for (const std::uint64_t smaller : {std::uint64_t{0}, value / 2, value - 1}) {
    if (value == 0 || simplifier.is_time_over()) return false;
    const bool is_kept =
        attempt(simplifier, [&](WorldScenario& scenario) { number(scenario) = smaller; });
    if (is_kept) return true;
  }
  return false;
}

bool lower_operations(explorer::Simplifier& simplifier) {
  bool simpler = false;
  const DrawnClients clients = best_of(simplifier).clients;
  for (std::size_t client = 0; client < clients.size(); ++client) {
    for (std::size_t index = 0; index < clients[client].size(); ++index) {
      for (std::size_t place = 0; place < clients[client][index].size(); ++place) {
        simpler |= lower(simplifier, [=](WorldScenario& scenario) -> std::uint64_t& {
          return scenario.clients[client][index][place];
        });
      }
    }
  }
  return simpler;
}

// The best scenario's choices become explicit, so that one of them can change and the others stay.
bool lower_choices(explorer::Simplifier& simplifier) {
  bool simpler = false;
  for (std::size_t index = 0; index < best_of(simplifier).chosen.size(); ++index) {
    simpler |= lower(simplifier, [=](WorldScenario& scenario) -> std::uint64_t& {
      if (scenario.choices.size() <= index) scenario.choices = scenario.chosen;
      return scenario.choices[index];
    });
  }
  return simpler;
}

bool simplify_simulation(explorer::Simplifier& simplifier) {
  bool simpler = false;
  for (const auto& simplify : explorer::simulation_simplifications()) {
    if (simplifier.is_time_over()) break;
    simpler |= attempt(simplifier, [&](WorldScenario& scenario) { simplify(scenario.simulation); });
  }
  return simpler;
}

// How long an endless run shall at least be, so that it shows more than the beginning.
std::uint64_t shortest_endless_run(const WorldScenario& scenario) {
  const std::uint64_t first_fair_step = scenario.simulation.last_fault_step;
  return first_fair_step + std::max(first_fair_step, 2 * scenario.usual_steps);
}

bool is_endless(const WorldScenario& scenario) {
  return scenario.reached_step_limit && scenario.usual_steps > 0 &&
         scenario.simulation.last_fault_step <= scenario.simulation.step_limit;
}

// Ends a run that makes no progress earlier.
bool lower_step_limit(explorer::Simplifier& simplifier) {
  bool simpler = false;
  while (is_endless(best_of(simplifier)) && !simplifier.is_time_over()) {
    const bool is_kept = attempt(simplifier, [](WorldScenario& scenario) {
      std::uint64_t& limit = scenario.simulation.step_limit;
      limit = std::min(limit, std::max(limit / 2, shortest_endless_run(scenario)));
    });
    if (!is_kept) break;
    simpler = true;
  }
  return simpler;
}

// Ends faults, and the part of the schedule that is not fair, earlier. Runs that end keep theirs:
// they would only get longer.
bool lower_first_fair_step(explorer::Simplifier& simplifier) {
  bool simpler = false;
  while (is_endless(best_of(simplifier)) && !simplifier.is_time_over()) {
    const bool is_kept = attempt(
        simplifier, [](WorldScenario& scenario) { scenario.simulation.last_fault_step /= 2; });
    if (!is_kept) break;
    simpler = true;
  }
  return simpler;
}

}  // namespace

const WorldScenario& world_scenario(const explorer::Scenario& scenario) {
  return static_cast<const WorldScenario&>(scenario);
}

nlohmann::json WorldScenario::to_json() const {
  nlohmann::json all = nlohmann::json::array();
  for (const auto& operations : clients) {
    nlohmann::json client = nlohmann::json::array();
    for (const DrawnOperation& operation : operations) {
      client.push_back({{"numbers", operation}, {"text", (*describe_operation)(operation)}});
    }
    all.push_back(std::move(client));
  }
  nlohmann::json json = {
      {"seed", seed}, {"choices", choices}, {"clients", std::move(all)}, {"without", without}};
  if (gathers_when_ready) json["gathers_when_ready"] = true;
  if (usual_steps > 0) json["usual_steps"] = usual_steps;
  return json;
}

std::string WorldScenario::describe() const {
  std::string text = fmt::format("  seed {}", seed);
  if (!choices.empty()) text += fmt::format(", choices {}", fmt::join(choices, ", "));
  if (!without.empty()) text += fmt::format(", without {}", fmt::join(without, ", "));
  text += '\n';
  for (std::size_t client = 0; client < clients.size(); ++client) {
    std::vector<std::string> operations;
    for (const DrawnOperation& operation : clients[client]) {
      operations.push_back((*describe_operation)(operation));
    }
    text += fmt::format("  client {}: {}\n", client, fmt::join(operations, ", "));
  }
  return text + explorer::describe_simulation(simulation);
}

std::string WorldScenario::size() const {
  return clients.empty()
             ? fmt::format("seed {}", seed)
             : fmt::format("{} clients, {} operations", clients.size(), operation_count());
}

std::uint64_t WorldScenario::operation_count() const {
  std::uint64_t count = 0;
  for (const auto& operations : clients) count += operations.size();
  return count;
}

bool WorldScenario::is_switched_off(std::string_view safeguard) const {
  return std::ranges::find(without, safeguard) != without.end();
}

bool WorldScenario::simplify(explorer::Simplifier& simplifier) const {
  const bool earlier_end = lower_step_limit(simplifier);
  const bool fewer_clients = remove_clients(simplifier);
  const bool fewer_operations = remove_operations(simplifier);
  const bool lower_numbers = lower_operations(simplifier);
  const bool lower_values = lower_choices(simplifier);
  const bool fewer_features = simplify_simulation(simplifier);
  const bool earlier_fairness = lower_first_fair_step(simplifier);
  return earlier_end || fewer_clients || fewer_operations || lower_numbers || lower_values ||
         fewer_features || earlier_fairness;
}

tl::expected<WorldScenario, std::string> parse_world_scenario(
    const nlohmann::json& json, std::shared_ptr<const DescribeOperation> describe_operation) {
  const bool has_seed = json.is_object() && json.contains("seed") &&
                        json["seed"].is_number_unsigned() && is_list_of_numbers(json, "choices");
  if (!has_seed) {
    return tl::unexpected(
        std::string("scenario_options lacks \"seed\", an unsigned number, or \"choices\", a list "
                    "of unsigned numbers"));
  }
  if (!is_array(json, "clients", most_clients)) {
    return tl::unexpected(fmt::format(
        "scenario_options lacks \"clients\", an array of at most {} clients", most_clients));
  }
  const bool has_without = is_array(json, "without", most_clients) &&
                           std::ranges::all_of(json["without"], &nlohmann::json::is_string);
  if (!has_without) {
    return tl::unexpected(std::string("scenario_options lacks \"without\", a list of safeguards"));
  }
  const bool gathers = json.contains("gathers_when_ready");
  if (gathers && !json["gathers_when_ready"].is_boolean()) {
    return tl::unexpected(std::string("\"gathers_when_ready\" is neither true nor false"));
  }
  const bool has_usual_steps = json.contains("usual_steps");
  if (has_usual_steps && !json["usual_steps"].is_number_unsigned()) {
    return tl::unexpected(std::string("\"usual_steps\" is not an unsigned number"));
  }
  WorldScenario scenario;
  scenario.usual_steps = has_usual_steps ? json["usual_steps"].get<std::uint64_t>() : 0;
  scenario.gathers_when_ready = gathers && json["gathers_when_ready"].get<bool>();
  scenario.describe_operation = std::move(describe_operation);
  scenario.seed = json["seed"];
  scenario.choices = json["choices"].get<std::vector<std::uint64_t>>();
  scenario.without = json["without"].get<std::vector<std::string>>();
  for (const nlohmann::json& client : json["clients"]) {
    auto operations = parse_client(client);
    if (!operations) return tl::unexpected(operations.error());
    scenario.clients.push_back(std::move(*operations));
  }
  return scenario;
}

}  // namespace falafel::check
