// Random operations of a client with keys of its own, and a plain map that says what each of them
// must answer.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fabric/fabric.h"
#include "stores/answer.h"
#include "tests/stores/bytes.h"

namespace falafel::stores_test {

struct DrawnOperation {
  int kind = 0;  // 0, 1: SET; 2: GET; 3: DELETE; 4: contains, if the store has it
  int key = 0;
  std::size_t value_bytes = 0;
};

// Answers that a store may give to a change without doing it, or without saying whether it did.
enum class Excuses { none, full_busy_or_unknown };

template <typename Client>
class PlainMap {
 public:
  PlainMap(Client& client, std::size_t number, Excuses excuses)
      : client_(client), number_(number), excuses_(excuses) {}

  void execute(const DrawnOperation& operation) {
    const std::string key =
        "client " + std::to_string(number_) + " key " + std::to_string(operation.key);
    switch (operation.kind) {
      case 0:
      case 1: return set(key, std::string(operation.value_bytes, 'v'));
      case 2: return get(key);
      case 3: return remove(key);
      default: return contains(key);
    }
  }

 private:
  // After an unknown outcome, a key may hold either state, and the change may still happen later,
  // so the model says nothing about it any more.
  bool is_unknown(const std::string& key, stores::Answer answer) {
    if (excuses_ == Excuses::none || answer != stores::Answer::unknown_outcome) return false;
    in_doubt_.insert(key);
    return true;
  }
  bool is_refused(stores::Answer answer) const {
    return excuses_ != Excuses::none &&
           (answer == stores::Answer::table_full || answer == stores::Answer::busy);
  }
  void set(const std::string& key, const std::string& value) {
    const stores::Answer answer = client_.set(bytes_of(key), bytes_of(value)).answer;
    if (is_unknown(key, answer) || is_refused(answer)) return;
    EXPECT_EQ(answer, stores::Answer::stored);
    model_[key] = value;
  }
  void get(const std::string& key) {
    const auto result = client_.get(bytes_of(key));
    if (in_doubt_.contains(key)) return;
    EXPECT_EQ(result.answer,
              model_.contains(key) ? stores::Answer::found : stores::Answer::not_found);
    EXPECT_EQ(text_of(result.value), model_.contains(key) ? model_.at(key) : "");
  }
  void remove(const std::string& key) {
    const stores::Answer answer = client_.remove(bytes_of(key)).answer;
    const bool was_present = model_.erase(key) > 0;
    if (is_unknown(key, answer) || in_doubt_.contains(key)) return;
    EXPECT_EQ(answer, was_present ? stores::Answer::deleted : stores::Answer::not_found);
  }

  void contains(const std::string& key) {
    if constexpr (requires { client_.contains(bytes_of(key)); }) {
      EXPECT_EQ(client_.contains(bytes_of(key)).answer,
                model_.contains(key) ? stores::Answer::found : stores::Answer::not_found);
    }
  }

  Client& client_;
  std::size_t number_;
  Excuses excuses_;
  std::map<std::string, std::string> model_;
  std::set<std::string> in_doubt_;
};

struct DrawnLoad {
  int kinds = 4;
  int keys = 0;
  Excuses excuses = Excuses::none;
};

// Adds one to three clients to the store, which execute random operations and then GET all keys,
// and runs it. The run has no problems, and all clients return.
template <typename Store>
void agree_with_plain_maps(Store& store, const DrawnLoad& load) {
  using Client = typename Store::Client;
  const auto clients = *rc::gen::inRange<std::size_t>(1, 4);
  std::size_t returned = 0;
  for (std::size_t client = 0; client < clients; ++client) {
    const auto operations = *rc::gen::container<std::vector<DrawnOperation>>(rc::gen::exec([&load] {
      return DrawnOperation{.kind = *rc::gen::inRange(0, load.kinds),
                            .key = *rc::gen::inRange(0, load.keys),
                            .value_bytes = *rc::gen::inRange<std::size_t>(0, 400)};
    }));
    store.add_client([&load, operations, client, &returned](fabric::Host&, Client& connected) {
      PlainMap map(connected, client, load.excuses);
      for (const DrawnOperation& operation : operations) map.execute(operation);
      for (int key = 0; key < load.keys; ++key) map.execute({.kind = 2, .key = key});
      ++returned;
    });
  }
  RC_ASSERT(store.run().problems == std::vector<std::string>());
  RC_ASSERT(returned == clients);
  RC_ASSERT(!testing::Test::HasFailure());
}

}  // namespace falafel::stores_test
