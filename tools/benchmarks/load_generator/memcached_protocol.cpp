// The text protocol of memcached, as described in doc/protocol.txt of its sources.
#include <fmt/format.h>

#include <charconv>

#include "tools/benchmarks/load_generator/protocol.h"

namespace falafel::load_generator {
namespace {

class MemcachedProtocol final : public Protocol {
 public:
  void append_get(std::string& requests, std::string_view key) const override {
    requests.append("get ").append(key).append(line_end);
  }

  void append_set(std::string& requests, std::string_view key,
                  std::string_view value) const override {
    requests.append("set ").append(key);
    requests += fmt::format(" 0 0 {}\r\n", value.size());
    requests.append(value).append(line_end);
  }

  std::optional<Answer> parse(std::string_view bytes) const override {
    const std::size_t end = bytes.find(line_end);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = bytes.substr(0, end);
    const std::size_t line_bytes = end + line_end.size();
    if (line == "STORED") return Answer{Answer::Kind::stored, {}, line_bytes};
    if (line == "END") return Answer{Answer::Kind::missing, {}, line_bytes};
    if (!line.starts_with("VALUE ")) return Answer{Answer::Kind::unexpected, line, line_bytes};
    return parse_value(bytes, line, line_bytes);
  }

 private:
  // Parses the line "VALUE key flags length", the value, and the line "END".
  static std::optional<Answer> parse_value(std::string_view bytes, std::string_view line,
                                           std::size_t line_bytes) {
    constexpr std::string_view tail = "\r\nEND\r\n";
    std::size_t length = 0;
    const char* const number = line.data() + line.rfind(' ') + 1;
    if (std::from_chars(number, line.data() + line.size(), length).ec != std::errc()) {
      return Answer{Answer::Kind::unexpected, line, line_bytes};
    }
    const std::size_t size_bytes = line_bytes + length + tail.size();
    if (bytes.size() < size_bytes) return std::nullopt;
    return Answer{Answer::Kind::value, bytes.substr(line_bytes, length), size_bytes};
  }
};

}  // namespace

std::unique_ptr<Protocol> make_memcached_protocol() {
  return std::make_unique<MemcachedProtocol>();
}

}  // namespace falafel::load_generator
