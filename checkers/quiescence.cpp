#include "checkers/quiescence.h"

#include <fmt/format.h>

#include <algorithm>

namespace falafel::checkers {

void Quiescence::on_began(std::uint64_t operation, std::uint32_t client) {
  operations_.emplace(operation, Operation{.client = client});
}

void Quiescence::on_returned(std::uint64_t number, bool has_restarted, std::uint64_t step) {
  const auto found = operations_.find(number);
  if (found == operations_.end()) return;
  const Operation operation = found->second;
  operations_.erase(found);
  Client& client = clients_[operation.client];
  client.old_operations.erase(number);
  for (Sent& sent : client.in_flight) {
    if (sent.old_operations.erase(number) > 0 && !has_restarted) sent.was_early = true;
  }
  if (operation.is_disowned && !has_restarted) fail(operation.client, step);
}

void Quiescence::on_left(std::uint32_t client) {
  clients_.erase(client);
  std::erase_if(operations_, [&](const auto& other) { return other.second.client == client; });
}

void Quiescence::on_question(std::uint32_t number, std::uint64_t epoch) {
  Client& client = clients_[number];
  client.asked_epoch = epoch;
  for (const auto& [operation, state] : operations_) {
    if (state.client == number) client.old_operations.insert(operation);
  }
  // Earlier messages answer earlier questions.
  for (Sent& sent : client.in_flight) sent = {.place = sent.place, .old_operations = {}};
}

void Quiescence::on_sent(std::uint32_t number, std::uint64_t place) {
  Client& client = clients_[number];
  client.in_flight.push_back({.place = place, .old_operations = client.old_operations});
}

void Quiescence::on_arrived(std::uint32_t number, std::uint64_t place,
                            std::optional<std::uint64_t> epoch, std::uint64_t step) {
  Client& client = clients_[number];
  const auto found = std::ranges::find(client.in_flight, place, &Sent::place);
  if (found == client.in_flight.end()) return;
  const Sent sent = *found;
  client.in_flight.erase(found);
  if (!epoch || epoch != client.asked_epoch) return;
  if (sent.was_early) return fail(number, step);
  for (const std::uint64_t operation : sent.old_operations) {
    operations_.at(operation).is_disowned = true;
  }
}

void Quiescence::fail(std::uint32_t client, std::uint64_t step) {
  if (judgement_.verdict != Verdict::holds) return;
  judgement_ = {.verdict = Verdict::violated,
                .property = "quiescence.answered-early",
                .explanation = fmt::format(
                    "step {}: the client with queue pair {} has answered that no operation is left "
                    "that began before the server's question, but one was, which has returned "
                    "without a restart",
                    step, client),
                .step = step};
}

}  // namespace falafel::checkers
