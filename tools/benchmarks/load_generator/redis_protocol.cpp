// RESP, the protocol of Redis, version 2.
#include <fmt/format.h>

#include <charconv>

#include "tools/benchmarks/load_generator/protocol.h"

namespace falafel::load_generator {
namespace {

class RedisProtocol final : public Protocol {
 public:
  void append_get(std::string& requests, std::string_view key) const override {
    requests.append("*2\r\n$3\r\nGET\r\n");
    append_text(requests, key);
  }

  void append_set(std::string& requests, std::string_view key,
                  std::string_view value) const override {
    requests.append("*3\r\n$3\r\nSET\r\n");
    append_text(requests, key);
    append_text(requests, value);
  }

  std::optional<Answer> parse(std::string_view bytes) const override {
    const std::size_t end = bytes.find(line_end);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = bytes.substr(0, end);
    const std::size_t line_bytes = end + line_end.size();
    if (line == "+OK") return Answer{Answer::Kind::stored, {}, line_bytes};
    if (line == "$-1") return Answer{Answer::Kind::missing, {}, line_bytes};
    std::size_t length = 0;
    if (!line.starts_with('$') ||
        std::from_chars(line.data() + 1, line.data() + line.size(), length).ec != std::errc()) {
      return Answer{Answer::Kind::unexpected, line, line_bytes};
    }
    const std::size_t size_bytes = line_bytes + length + line_end.size();
    if (bytes.size() < size_bytes) return std::nullopt;
    return Answer{Answer::Kind::value, bytes.substr(line_bytes, length), size_bytes};
  }

 private:
  static void append_text(std::string& requests, std::string_view text) {
    requests += fmt::format("${}\r\n", text.size());
    requests.append(text).append(line_end);
  }
};

}  // namespace

std::unique_ptr<Protocol> make_redis_protocol() { return std::make_unique<RedisProtocol>(); }

}  // namespace falafel::load_generator
