// The keys and values of a benchmark. A key is its number in hexadecimal digits, padded with
// leading `k`s. A value is derived from the key's number and a number that the writer chose and
// that the value contains. A reader can therefore tell whether a value belongs to the key and is
// complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace falafel::store_benchmark {

inline constexpr std::size_t most_key_digits = 16;

inline void write_key(std::uint64_t number, std::span<std::byte> key) {
  constexpr char digits[] = "0123456789abcdef";
  std::size_t place = key.size();
  for (std::size_t digit = 0; digit < most_key_digits && place > 0; ++digit, number >>= 4U) {
    key[--place] = static_cast<std::byte>(digits[number & 0xfU]);
  }
  while (place > 0) key[--place] = std::byte{'k'};
}

// Returns whether keys of that length can distinguish this number of keys.
inline bool has_enough_digits(std::uint64_t keys, std::uint64_t key_bytes) {
  return key_bytes >= most_key_digits || keys <= std::uint64_t{1} << (4 * key_bytes);
}

// The words of a value: the writer's number, followed by words derived from it and the key's
// number. Values shorter than one and a half words depend on the key's number only.
class ValueWords {
 public:
  ValueWords(std::uint64_t key, std::uint64_t writer_number)
      : state_((key + 1) * 0x9e37'79b9'7f4a'7c15 ^ writer_number) {}
  std::uint64_t next() {
    state_ = state_ * 6'364'136'223'846'793'005 + 1'442'695'040'888'963'407;
    return state_ ^ state_ >> 32U;
  }

 private:
  std::uint64_t state_;
};

inline constexpr std::size_t least_bytes_with_writer = 12;

inline void write_value(std::uint64_t key, std::uint64_t writer_number,
                        std::span<std::byte> value) {
  const bool names_writer = value.size() >= least_bytes_with_writer;
  ValueWords words(key, names_writer ? writer_number : 0);
  if (names_writer) {
    std::memcpy(value.data(), &writer_number, sizeof writer_number);
    value = value.subspan(sizeof writer_number);
  }
  while (!value.empty()) {
    const std::uint64_t word = words.next();
    const std::size_t length = value.size() < sizeof word ? value.size() : sizeof word;
    std::memcpy(value.data(), &word, length);
    value = value.subspan(length);
  }
}

inline bool is_value_of(std::uint64_t key, std::span<const std::byte> value) {
  std::uint64_t writer_number = 0;
  if (value.size() >= least_bytes_with_writer) {
    std::memcpy(&writer_number, value.data(), sizeof writer_number);
    value = value.subspan(sizeof writer_number);
  }
  ValueWords words(key, writer_number);
  while (!value.empty()) {
    const std::uint64_t word = words.next();
    const std::size_t length = value.size() < sizeof word ? value.size() : sizeof word;
    if (std::memcmp(value.data(), &word, length) != 0) return false;
    value = value.subspan(length);
  }
  return true;
}

}  // namespace falafel::store_benchmark
