// Random histories of a reference object: each operation takes effect at one moment between its
// call and its return, or, if its answer is lost, at any later moment or never.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "checkers/specification_history.h"
#include "fabric/random.h"
#include "tests/checkers/reference_objects.h"

namespace falafel::checkers_test {

struct CallOptions {
  std::size_t operations = 8;
  std::uint32_t clients = 3;
  std::uint64_t lost_permille = 0;
};

template <typename S>
class CallGenerator {
 public:
  CallGenerator(const CallOptions& options, RandomGenerator& random)
      : options_(options), random_(random), clients_(options.clients) {}

  std::vector<checkers::Call<S>> run() {
    while (calls_.size() < options_.operations || is_pending()) {
      step(static_cast<std::uint32_t>(random_.below(options_.clients)));
    }
    return std::move(calls_);
  }

 private:
  // An operation of a client: called, then in effect, then returned.
  struct Client {
    std::optional<std::size_t> call;
    std::optional<typename S::Result> result;
  };

  bool is_pending() const {
    for (const Client& client : clients_) {
      if (client.call) return true;
    }
    return false;
  }

  void step(std::uint32_t number) {
    Client& client = clients_[number];
    ++time_;
    if (!client.call) {
      if (calls_.size() < options_.operations) call(client, number);
    } else if (!client.result) {
      client.result = object_.execute(calls_[*client.call].operation, random_);
      if (random_.below(1000) < options_.lost_permille) client = {};
    } else {
      calls_[*client.call].result = std::move(client.result);
      calls_[*client.call].return_time = time_;
      client = {};
    }
  }

  void call(Client& client, std::uint32_t number) {
    client.call = calls_.size();
    calls_.push_back({.client = number, .operation = object_.draw(random_), .call_time = time_});
    if (random_.below(1000) < options_.lost_permille) client = {};  // it never takes effect
  }

  CallOptions options_;
  RandomGenerator& random_;
  ReferenceObject<S> object_{};
  std::vector<Client> clients_;
  std::vector<checkers::Call<S>> calls_;
  std::uint64_t time_ = 0;
};

// Changes an answer or a time, which may or may not make the history incorrect.
template <typename S>
void mutate(std::vector<checkers::Call<S>>& calls, RandomGenerator& random) {
  checkers::Call<S>& call = calls[random.below(calls.size())];
  const checkers::Call<S>& other = calls[random.below(calls.size())];
  switch (random.below(4)) {
    case 0:
      call.call_time = other.call_time;
      if (call.return_time < call.call_time) call.return_time = call.call_time;
      break;
    case 1: call.is_refused = true; break;
    default:
      if (call.result) call.result = ReferenceObject<S>::draw_result(call.operation, random);
      break;
  }
}

}  // namespace falafel::checkers_test
