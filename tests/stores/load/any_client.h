// A client of any store, with texts as keys and values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "fabric/fabric.h"
#include "fabric/text.h"
#include "fabric/time_units.h"
#include "stores/answer.h"

namespace falafel::stores_test {

using stores::Answer;

using fabric::millisecond_ns;

struct Found {
  Answer answer = Answer::not_found;
  std::string value{};  // if found
};

class AnyClient {
 public:
  virtual ~AnyClient() = default;

  virtual Found get(std::string_view key) = 0;
  virtual Answer set(std::string_view key, std::string_view value) = 0;
  virtual Answer remove(std::string_view key) = 0;

  // Returns whether to repeat an operation with this answer after a pause.
  virtual bool is_repeated(Answer) const { return false; }
  virtual void pause() {}
};

// A client of Pilaf, of C-Hint or of Troost's store, which outlives this object.
template <typename Client>
class ServedClient final : public AnyClient {
 public:
  explicit ServedClient(Client& client) : client_(client) {}

  Found get(std::string_view key) override {
    const auto result = client_.get(fabric::bytes_of(key));
    return {.answer = result.answer, .value = fabric::text_of(result.value)};
  }
  Answer set(std::string_view key, std::string_view value) override {
    return client_.set(fabric::bytes_of(key), fabric::bytes_of(value)).answer;
  }
  Answer remove(std::string_view key) override {
    return client_.remove(fabric::bytes_of(key)).answer;
  }

 private:
  Client& client_;
};

}  // namespace falafel::stores_test
