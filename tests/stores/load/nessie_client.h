// A client of Nessie, which repeats what gives up.
#pragma once

#include <optional>

#include "fabric/text.h"
#include "stores/nessie/client.h"
#include "tests/stores/load/any_client.h"

namespace falafel::stores_test {

// The client outlives this object.
class NessieClient final : public AnyClient {
 public:
  NessieClient(fabric::Host& host, nessie::Client& client) : host_(host), client_(client) {
    backoff_.emplace(host);
  }

  Found get(std::string_view key) override {
    const nessie::GetResult result = client_.get(fabric::bytes_of(key));
    return {.answer = begin_again(result.answer), .value = fabric::text_of(result.value)};
  }
  Answer set(std::string_view key, std::string_view value) override {
    return begin_again(client_.put(fabric::bytes_of(key), fabric::bytes_of(value)));
  }
  Answer remove(std::string_view key) override {
    return begin_again(client_.remove(fabric::bytes_of(key)));
  }

  // The replaced entries of the own node may all be waiting for their expiry.
  bool is_repeated(Answer answer) const override {
    return answer == Answer::busy || answer == Answer::out_of_memory;
  }
  void pause() override { backoff_->pause(); }

 private:
  // The next operation starts with a short pause.
  Answer begin_again(Answer answer) {
    if (!is_repeated(answer)) backoff_.emplace(host_);
    return answer;
  }

  fabric::Host& host_;
  nessie::Client& client_;
  std::optional<nessie::Backoff> backoff_;
};

}  // namespace falafel::stores_test
