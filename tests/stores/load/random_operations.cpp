#include "tests/stores/load/random_operations.h"

#include <optional>
#include <random>
#include <string>
#include <utility>
#include <variant>

namespace falafel::stores_test {
namespace {

using Map = KeyValueMap;

constexpr int most_attempts = 10'000;

class RandomOperations {
 public:
  RandomOperations(fabric::Host& host, AnyClient& client, const Load& load, SharedHistory& history)
      : host_(host), client_(client), load_(load), history_(history), random_(load.client) {}

  Tally run() {
    for (int number = 0; number < load_.operations && !is_disconnected_; ++number) {
      const std::uint64_t start_ns = host_.now_ns();
      const Map::Operation operation = draw(number);
      execute(operation);
      const std::uint64_t duration_ns = host_.now_ns() - start_ns;
      const bool is_get = std::holds_alternative<Map::Get>(operation);
      (is_get ? tally_.get_ns : tally_.change_ns).push_back(duration_ns);
    }
    return std::move(tally_);
  }

 private:
  Map::Operation draw(int number) {
    std::string key = std::to_string(random_() % static_cast<std::uint64_t>(load_.keys));
    switch (random_() % 4) {
      case 0:
        return Map::Set{std::move(key),
                        std::to_string(load_.client) + "." + std::to_string(number)};
      case 1:
        if (load_.deletes) return Map::Remove{std::move(key)};
        [[fallthrough]];
      default: return Map::Get{std::move(key)};
    }
  }

  // An attempt that gave up has a call of its own in the history, so one that had an effect
  // nevertheless is a violation.
  void execute(const Map::Operation& operation) {
    int attempts = 1;
    while (client_.is_repeated(attempt(operation)) && attempts++ < most_attempts) client_.pause();
    if (attempts > most_attempts) ++tally_.given_up;
  }

  Answer attempt(const Map::Operation& operation) {
    const std::size_t call = history_.call(load_.client, operation);
    std::optional<Map::Result> result;
    const Answer answer = ask(operation, result);
    ++tally_.answers[answer];
    if (answer == Answer::disconnected) is_disconnected_ = true;
    if (result) {
      history_.complete(call, std::move(*result));
    } else if (answer != Answer::unknown_outcome) {
      history_.refuse(call);
    }
    return answer;
  }

  // Empty: the answer says nothing about the key.
  Answer ask(const Map::Operation& operation, std::optional<Map::Result>& result) {
    if (const auto* const get = std::get_if<Map::Get>(&operation)) {
      Found found = client_.get(get->key);
      if (found.answer == Answer::found) result = Map::found(std::move(found.value));
      if (found.answer == Answer::not_found) result = Map::absent();
      return found.answer;
    }
    if (const auto* const set = std::get_if<Map::Set>(&operation)) {
      const Answer answer = client_.set(set->key, set->value);
      if (answer == Answer::stored) result = Map::Result();
      return answer;
    }
    const Answer answer = client_.remove(std::get<Map::Remove>(operation).key);
    if (answer == Answer::deleted) result = Map::removed();
    if (answer == Answer::not_found) result = Map::absent();
    return answer;
  }

  fabric::Host& host_;
  AnyClient& client_;
  Load load_;
  SharedHistory& history_;
  std::mt19937_64 random_;
  bool is_disconnected_ = false;
  Tally tally_;
};

void append(std::vector<std::uint64_t>& to, const std::vector<std::uint64_t>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

Tally& Tally::operator+=(const Tally& other) {
  for (const auto& [answer, count] : other.answers) answers[answer] += count;
  given_up += other.given_up;
  append(get_ns, other.get_ns);
  append(change_ns, other.change_ns);
  return *this;
}

Tally run_random_operations(fabric::Host& host, AnyClient& client, const Load& load,
                            SharedHistory& history) {
  return RandomOperations(host, client, load, history).run();
}

}  // namespace falafel::stores_test
