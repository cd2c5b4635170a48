// Lines of a stream, with a bound on their length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace falafel::history {

class LineReader {
 public:
  LineReader(std::istream& input, std::size_t most_bytes);

  // The next line without its end ("\n" or "\r\n"), until the next call; none: there are no more. Or
  // what went wrong.
  tl::expected<std::optional<std::string_view>, std::string> next();

  // Of the last line, counted from 1.
  std::uint64_t number() const { return number_; }

 private:
  bool fill();

  std::istream& input_;
  std::size_t most_bytes_;
  std::vector<char> buffer_;
  std::string_view unread_;  // in the buffer
  std::string line_;
  std::uint64_t number_ = 0;
};

}  // namespace falafel::history
