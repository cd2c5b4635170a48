// A client of any store, with texts as keys and values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "fabric/fabric.h"
#include "stores/answer.h"

namespace falafel::stores_test {

using stores::Answer;

inline constexpr std::uint64_t millisecond_ns = 1'000'000;

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

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

inline std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A client of Pilaf, of C-Hint or of Troost's store, which outlives this object.
template <typename Client>
class ServedClient final : public AnyClient {
 public:
  explicit ServedClient(Client& client) : client_(client) {}

  Found get(std::string_view key) override {
    const auto result = client_.get(bytes_of(key));
    return {.answer = result.answer, .value = text_of(result.value)};
  }
  Answer set(std::string_view key, std::string_view value) override {
    return client_.set(bytes_of(key), bytes_of(value)).answer;
  }
  Answer remove(std::string_view key) override { return client_.remove(bytes_of(key)).answer; }

 private:
  Client& client_;
};

}  // namespace falafel::stores_test
