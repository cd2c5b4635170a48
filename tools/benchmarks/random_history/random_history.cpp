#include "tools/benchmarks/random_history/random_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace falafel::checkers::generators {
namespace {

using checkers::Answer;
using checkers::Model;
using checkers::Operation;
using checkers::OperationKind;

// A client is idle, has called an operation, or waits for the return of one that took effect. Each
// step advances a random client.
class SimulatedStore {
 public:
  SimulatedStore(const HistoryOptions& options, fabric::RandomGenerator& random)
      : options_(options), random_(random), clients_(options.clients) {}

  std::vector<Operation> run() {
    while (history_.size() < options_.operations || is_busy()) {
      step(clients_[random_.below(options_.clients)]);
    }
    return std::move(history_);
  }

 private:
  enum class Phase : std::uint8_t { idle, called, carried_out };
  struct Client {
    Phase phase = Phase::idle;
    std::size_t operation = 0;
    Answer answer = Answer::indeterminate;
  };

  bool is_busy() const {
    return std::ranges::any_of(clients_,
                               [](const Client& client) { return client.phase != Phase::idle; });
  }

  void step(Client& client) {
    switch (client.phase) {
      case Phase::idle:
        if (history_.size() < options_.operations) call(client);
        break;
      case Phase::called: carry_out(client); break;
      case Phase::carried_out: complete(client); break;
    }
  }

  void call(Client& client) {
    client = {.phase = Phase::called, .operation = history_.size()};
    Operation& operation = history_.emplace_back();
    operation.client = static_cast<std::uint32_t>(&client - clients_.data());
    operation.kind = kind();
    operation.key = fmt::format("key {}", random_.below(options_.keys));
    operation.call_time = ++time_;
    if (operation.kind != OperationKind::get && operation.kind != OperationKind::remove) {
      operation.value = value();
    }
    if (operation.kind == OperationKind::compare_and_swap && random_.below(4) != 0) {
      operation.expected = value();
    }
    // the lost operation has no effect
    if (is_lost() && random_.below(2) == 0) client.phase = Phase::idle;
  }

  void carry_out(Client& client) {
    Operation& operation = history_[client.operation];
    std::optional<std::string>& value = values_[operation.key];
    if (options_.model == Model::append_log && !value) value.emplace();
    client.phase = Phase::carried_out;
    switch (operation.kind) {
      case OperationKind::get:
        client.answer = value ? Answer::found : Answer::not_found;
        operation.value = value.value_or("");
        break;
      case OperationKind::set:
        client.answer = Answer::stored;
        value = operation.value;
        break;
      case OperationKind::append:
        client.answer = Answer::stored;
        *value += operation.value;
        break;
      case OperationKind::remove:
        client.answer = value ? Answer::deleted : Answer::not_found;
        value.reset();
        break;
      case OperationKind::compare_and_swap:
        client.answer = value == operation.expected ? Answer::swapped : Answer::not_swapped;
        if (client.answer == Answer::swapped) value = operation.value;
        break;
    }
  }

  void complete(Client& client) {
    client.phase = Phase::idle;
    if (is_lost()) return;
    Operation& operation = history_[client.operation];
    operation.answer = client.answer;
    operation.return_time = ++time_;
  }

  OperationKind kind() {
    if (random_.below(1'000) < options_.get_permille) return OperationKind::get;
    switch (options_.model) {
      case Model::key_value_register:
        return random_.below(3) == 0 ? OperationKind::remove : OperationKind::set;
      case Model::cas_register: {
        constexpr std::array kinds = {OperationKind::set, OperationKind::remove,
                                      OperationKind::compare_and_swap,
                                      OperationKind::compare_and_swap};
        return kinds.at(random_.below(kinds.size()));
      }
      case Model::append_log:
        return random_.below(12) == 0 ? OperationKind::set : OperationKind::append;
    }
    return OperationKind::get;
  }

  std::string value() {
    const std::uint64_t number =
        options_.values == 0 ? ++last_value_ : random_.below(options_.values);
    return fmt::format("{};", number);
  }

  bool is_lost() { return random_.below(1'000) < options_.lost_permille; }

  const HistoryOptions& options_;
  fabric::RandomGenerator& random_;
  std::vector<Client> clients_;
  std::vector<Operation> history_;
  std::map<std::string, std::optional<std::string>> values_;
  std::uint64_t time_ = 0;
  std::uint64_t last_value_ = 0;
};

}  // namespace

std::vector<Operation> random_history(const HistoryOptions& options,
                                      fabric::RandomGenerator& random) {
  return SimulatedStore(options, random).run();
}

}  // namespace falafel::checkers::generators
