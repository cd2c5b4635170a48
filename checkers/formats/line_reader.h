// Reads lines of bounded length from a stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace falafel::checkers::formats {

class LineReader {
 public:
  LineReader(std::istream& input, std::size_t most_bytes);

  // Returns the next line without its terminator ("\n" or "\r\n"); it is valid until the next call.
  // Returns nullopt at the end of the stream, and an error message on failure.
  tl::expected<std::optional<std::string_view>, std::string> next();

  // The number of the last line, starting from 1.
  std::uint64_t number() const { return number_; }

 private:
  bool fill();

  std::istream& input_;
  std::size_t most_bytes_;
  std::vector<char> buffer_;
  std::string_view unread_;  // part of the buffer
  std::string line_;
  std::uint64_t number_ = 0;
};

}  // namespace falafel::checkers::formats
