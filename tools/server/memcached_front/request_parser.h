// Divides a stream of bytes into requests. The bytes may arrive in pieces of any size.
//
//   parser.append(received);
//   while (auto request = parser.next()) answer(*request);
//
// A refused request includes its data block, so that the data is never taken for a command. If the
// length of the data block is unknown, the connection must end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/server/memcached_front/command_line.h"
#include "tools/server/memcached_front/request.h"

namespace falafel::memcached_front {

// A get may name thousands of keys in one line.
inline constexpr std::size_t longest_line_bytes = 1'048'576;

class RequestParser {
 public:
  explicit RequestParser(const ParserOptions& options) : options_(options) {}

  // Invalidates the views of the last request.
  void append(std::string_view bytes);
  // Returns nullopt if more bytes are necessary, and always after a request that ends the
  // connection.
  std::optional<Request> next();
  // Drops the remaining keys of the get that the last request belongs to, and its end.
  void skip_get() { rest_of_get_.reset(); }

 private:
  std::string_view unparsed() const { return std::string_view(bytes_).substr(parsed_bytes_); }
  std::optional<Request> take_frame();
  // Returns false if the line is not complete.
  bool take_line();
  std::optional<Request> begin_request();
  std::optional<Request> next_key();
  // Returns nullopt if the data block is not complete.
  std::optional<Request> take_data();
  bool skip_data();
  std::optional<Request> end_with(std::string_view error);

  ParserOptions options_;
  std::string bytes_;
  std::size_t parsed_bytes_ = 0;                 // within `bytes_`
  std::size_t searched_bytes_ = 0;               // unparsed bytes without an end of line
  std::string line_;                             // the views of a request refer to it
  Request get_;                                  // without a key
  std::optional<std::string_view> rest_of_get_;  // its keys
  std::optional<CommandLine> awaits_data_;       // its data block follows
  std::uint64_t skipped_bytes_ = 0;              // of the data block of a refused request
  bool has_ended_ = false;
};

}  // namespace falafel::memcached_front
