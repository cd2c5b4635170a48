#include "tools/server/memcached_front/request_parser.h"

#include <algorithm>
#include <utility>

#include "tools/server/memcached_front/binary_frame.h"
#include "tools/server/memcached_front/words.h"

namespace falafel::memcached_front {
namespace {

constexpr std::string_view end_of_data = "\r\n";
// More than extras and key of a request of the binary protocol have.
constexpr std::uint64_t most_extras_and_key_bytes = 512;

}  // namespace

void RequestParser::append(std::string_view bytes) {
  bytes_.erase(0, parsed_bytes_);
  parsed_bytes_ = 0;
  bytes_ += bytes;
}

std::optional<Request> RequestParser::next() {
  while (!has_ended_) {
    if (rest_of_get_) return next_key();
    if (awaits_data_) return take_data();
    if (unparsed().starts_with(magic_of_binary_request)) return take_frame();
    if (!take_line()) {
      if (unparsed().size() <= longest_line_bytes) return std::nullopt;
      return end_with("CLIENT_ERROR line too long");
    }
    if (auto request = begin_request()) return request;
  }
  return std::nullopt;
}

bool RequestParser::take_line() {
  const std::string_view rest = unparsed();
  const std::size_t end = rest.find('\n', searched_bytes_);
  if (end == std::string_view::npos || end > longest_line_bytes) {
    searched_bytes_ = rest.size();
    return false;
  }
  searched_bytes_ = 0;
  parsed_bytes_ += end + 1;
  line_ = rest.substr(0, end);
  if (line_.ends_with('\r')) line_.pop_back();
  return true;
}

// Returns nullopt if the frame is not complete.
std::optional<Request> RequestParser::take_frame() {
  if (unparsed().size() < binary_header_bytes) return std::nullopt;
  const std::uint64_t body_bytes = body_bytes_of(unparsed());
  if (body_bytes > options_.largest_value_bytes + most_extras_and_key_bytes) {
    return end_with("SERVER_ERROR object too large for cache");
  }
  const std::uint64_t frame_bytes = binary_header_bytes + body_bytes;
  if (unparsed().size() < frame_bytes) return std::nullopt;
  const std::string_view frame = unparsed().substr(0, frame_bytes);
  parsed_bytes_ += frame_bytes;
  return Request{.kind = Request::Kind::binary, .value = frame};
}

// Returns nullopt if the request has more parts than its line.
std::optional<Request> RequestParser::begin_request() {
  CommandLine line = parse_command_line(line_, options_);
  if (line.request.kind == Request::Kind::get) {
    get_ = std::move(line.request);
    rest_of_get_ = line.keys;
    return std::nullopt;
  }
  if (line.data_bytes) {
    awaits_data_ = std::move(line);
    return std::nullopt;
  }
  has_ended_ = line.request.ends_connection;
  return std::move(line.request);
}

std::optional<Request> RequestParser::next_key() {
  const std::string_view key = cut_word(*rest_of_get_);
  if (key.empty()) {
    skip_get();
    return Request{.kind = Request::Kind::end_of_get};
  }
  if (is_valid_key(key)) {
    Request request = get_;
    request.key = key;
    return request;
  }
  skip_get();
  return refuse("CLIENT_ERROR bad command line format");
}

std::optional<Request> RequestParser::take_data() {
  if (awaits_data_->request.kind == Request::Kind::refused) {
    if (!skip_data()) return std::nullopt;
    return std::exchange(awaits_data_, std::nullopt)->request;
  }
  const std::string_view rest = unparsed();
  const std::uint64_t length = *awaits_data_->data_bytes;
  if (rest.size() < length + end_of_data.size()) return std::nullopt;
  parsed_bytes_ += length + end_of_data.size();
  Request request = std::exchange(awaits_data_, std::nullopt)->request;
  if (rest.substr(length, end_of_data.size()) != end_of_data) {
    return end_with("CLIENT_ERROR bad data chunk");
  }
  request.value = rest.substr(0, length);
  return request;
}

// Drops the data as it arrives. Returns whether all of it has arrived.
bool RequestParser::skip_data() {
  const std::uint64_t total_bytes = *awaits_data_->data_bytes + end_of_data.size();
  const std::uint64_t arrived_bytes =
      std::min<std::uint64_t>(unparsed().size(), total_bytes - skipped_bytes_);
  parsed_bytes_ += arrived_bytes;
  skipped_bytes_ += arrived_bytes;
  if (skipped_bytes_ < total_bytes) return false;
  skipped_bytes_ = 0;
  return true;
}

std::optional<Request> RequestParser::end_with(std::string_view error) {
  has_ended_ = true;
  Request request = refuse(error);
  request.ends_connection = true;
  return request;
}

}  // namespace falafel::memcached_front
