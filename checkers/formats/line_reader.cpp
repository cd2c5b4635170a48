#include "checkers/formats/line_reader.h"

#include <fmt/format.h>

#include <algorithm>

namespace falafel::checkers::formats {

namespace {

constexpr std::size_t buffer_bytes = std::size_t{64} << 10U;

}  // namespace

LineReader::LineReader(std::istream& input, std::size_t most_bytes)
    : input_(input), most_bytes_(most_bytes), buffer_(buffer_bytes) {}

tl::expected<std::optional<std::string_view>, std::string> LineReader::next() {
  line_.clear();
  ++number_;
  bool is_complete = false;
  while (!is_complete && (!unread_.empty() || fill())) {
    const std::size_t end = unread_.find('\n');
    is_complete = end != std::string_view::npos;
    const std::size_t length = is_complete ? end : unread_.size();
    if (line_.size() + length > most_bytes_) {
      return tl::unexpected(fmt::format("the line is longer than {} bytes", most_bytes_));
    }
    line_ += unread_.substr(0, length);
    unread_.remove_prefix(is_complete ? length + 1 : length);
  }
  if (input_.bad()) return tl::unexpected<std::string>("reading the input failed");
  if (!is_complete && line_.empty()) {
    number_ = std::max<std::uint64_t>(number_ - 1, 1);
    return std::nullopt;
  }
  if (line_.ends_with('\r')) line_.pop_back();
  return line_;
}

bool LineReader::fill() {
  input_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  unread_ = {buffer_.data(), static_cast<std::size_t>(input_.gcount())};
  return !unread_.empty();
}

}  // namespace falafel::checkers::formats
