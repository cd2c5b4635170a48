// A history of the calls of several threads. A lock orders them in real time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "checkers/specification_linearizability.h"
#include "checkers/specifications/key_value_map.h"

namespace falafel::stores_test {

using checkers::specifications::KeyValueMap;

class SharedHistory {
 public:
  std::size_t call(std::uint32_t client, KeyValueMap::Operation operation) {
    const std::lock_guard lock(mutex_);
    return calls_.call(++time_, client, std::move(operation));
  }
  void complete(std::size_t number, KeyValueMap::Result result) {
    const std::lock_guard lock(mutex_);
    calls_.complete(++time_, number, std::move(result));
  }
  // The operation changed nothing, and its answer says nothing about the key.
  void refuse(std::size_t number) {
    const std::lock_guard lock(mutex_);
    calls_.refuse(++time_, number);
  }

  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return calls_.calls().size();
  }

  // By a specification with the operations and results of KeyValueMap.
  template <checkers::Specification S = KeyValueMap>
  checkers::Judgement judge() const {
    const std::lock_guard lock(mutex_);
    std::vector<checkers::Call<S>> calls;
    for (const auto& call : calls_.calls()) {
      calls.push_back({.client = call.client,
                       .operation = call.operation,
                       .result = call.result,
                       .is_refused = call.is_refused,
                       .call_time = call.call_time,
                       .return_time = call.return_time});
    }
    return checkers::check_linearizability<S>(std::span<const checkers::Call<S>>(calls));
  }

 private:
  mutable std::mutex mutex_;
  std::uint64_t time_ = 0;
  checkers::SpecificationHistory<KeyValueMap> calls_;
};

}  // namespace falafel::stores_test
