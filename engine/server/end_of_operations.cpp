#include "engine/server/end_of_operations.h"

#include <vector>

namespace falafel::engine {

void EndOfOperations::remove_client(std::uint32_t client) {
  epochs_.remove_client(client);
  answer_what_may_be();
}

bool EndOfOperations::request(std::uint32_t client) {
  if (requests_.contains(client)) return false;
  requests_[client] = epochs_.begin();
  return true;
}

void EndOfOperations::on_ended(std::uint32_t client, std::uint64_t epoch) {
  epochs_.confirm(client, epoch);
  answer_what_may_be();
}

void EndOfOperations::answer_what_may_be() {
  const std::uint64_t ended = epochs_.last_confirmed();
  std::vector<std::uint32_t> answered;
  for (const auto& [client, epoch] : requests_) {
    if (epoch <= ended) answered.push_back(client);
  }
  for (const std::uint32_t client : answered) {
    requests_.erase(client);
    membership_.send(client, {.kind = MessageKind::all_ended});
  }
}

}  // namespace falafel::engine
