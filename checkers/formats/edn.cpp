// Within this file, errors are exceptions; parse_edn_map() converts them to values.
#include "checkers/formats/edn.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "checkers/formats/messages.h"
#include "checkers/formats/numbers.h"
#include "checkers/utf8.h"

namespace falafel::checkers::formats {

namespace {

using Type = EdnValue::Type;

constexpr std::string_view white_space = " \t\r\f\v,";
constexpr std::string_view ends_of_words = " \t\r\f\v,\"()[]{};";

class EdnReader {
 public:
  explicit EdnReader(std::string_view text) : text_(text) {}

  EdnMap read_line() {
    EdnMap map;
    skip_white_space();
    if (is_at_end()) return map;
    if (!take('{')) fail_here("expected a map, {...}");
    while (!take('}')) {
      const EdnValue name = read_value(1);
      if (name.type != Type::keyword) fail_here("expected a keyword, such as :type, as key");
      if (is_next('}')) fail_here(fmt::format("no value after {}", shortened(name.text)));
      EdnValue value = read_value(1);
      if (!map.emplace(name.text, std::move(value)).second) {
        fail_here(fmt::format("{} occurs twice", shortened(name.text)));
      }
    }
    if (!is_at_end()) fail_here("text after the map");
    return map;
  }

 private:
  [[noreturn]] void fail_here(const std::string& message) const {
    throw std::runtime_error(fmt::format("column {}: {}", position_ + 1, message));
  }

  bool is_at_end() const { return position_ == text_.size(); }
  bool is_next(char character) const { return !is_at_end() && text_[position_] == character; }

  // Consumes the character and the white space after it.
  bool take(char character) {
    if (is_at_end()) fail_here("the line ends inside the map");
    if (!is_next(character)) return false;
    ++position_;
    skip_white_space();
    return true;
  }

  void skip_white_space() {
    position_ = std::min(text_.find_first_not_of(white_space, position_), text_.size());
    if (is_next(';')) position_ = text_.size();
  }

  EdnValue read_value(int depth) {
    if (is_at_end()) fail_here("the line ends inside the map");
    EdnValue value;
    switch (text_[position_]) {
      case '"': value = {Type::string, read_string()}; break;
      case '{': value = skip_collection('}', depth); break;
      case '[': value = skip_collection(']', depth); break;
      case '(': value = skip_collection(')', depth); break;
      case '#': value = skip_tagged(depth); break;
      default: value = read_word(); break;
    }
    skip_white_space();
    return value;
  }

  EdnValue skip_collection(char end, int depth) {
    require_depth(depth);
    ++position_;
    skip_white_space();
    while (!is_next(end)) read_value(depth + 1);
    ++position_;
    return {Type::other, ""};
  }

  // A set, or a tag with its value.
  EdnValue skip_tagged(int depth) {
    require_depth(depth);
    ++position_;
    if (!is_next('{')) read_word();
    skip_white_space();
    read_value(depth + 1);
    return {Type::other, ""};
  }

  void require_depth(int depth) const {
    if (depth >= edn_max_depth)
      fail_here(fmt::format("nested more than {} levels deep", edn_max_depth));
  }

  EdnValue read_word() {
    const std::size_t end = std::min(text_.find_first_of(ends_of_words, position_), text_.size());
    if (end == position_) fail_here("a value is missing");
    std::string word(text_.substr(position_, end - position_));
    position_ = end;
    if (word == "nil") return {Type::nil, std::move(word)};
    if (word.size() > 1 && word[0] == ':') return {Type::keyword, std::move(word)};
    const Type type = parse_number<std::int64_t>(word) ? Type::integer : Type::other;
    return {type, std::move(word)};
  }

  std::string read_string() {
    std::string string;
    ++position_;
    while (!is_next('"')) {
      const std::size_t end = std::min(text_.find_first_of("\"\\", position_), text_.size());
      string += text_.substr(position_, end - position_);
      position_ = end;
      if (is_at_end()) fail_here("the line ends inside a string");
      if (is_next('\\')) read_escape(string);
    }
    ++position_;
    return string;
  }

  void read_escape(std::string& string) {
    static constexpr std::string_view letters = "tnrbf\\\"";
    static constexpr std::string_view meanings = "\t\n\r\b\f\\\"";
    ++position_;
    if (is_at_end()) fail_here("the line ends inside a string");
    if (text_[position_] == 'u') {
      append_utf8(string, read_code_point());
      return;
    }
    const std::size_t index = letters.find(text_[position_]);
    if (index == std::string_view::npos) fail_here("unknown escape in a string");
    string += meanings[index];
    ++position_;
  }

  char32_t read_code_point() {
    static constexpr std::size_t digits = 4;
    const auto number = parse_number<std::uint16_t>(text_.substr(position_ + 1, digits), 16);
    const bool is_complete = text_.size() > position_ + digits;
    if (!number || !is_complete || (*number >= 0xd800U && *number <= 0xdfffU)) {
      fail_here("\\u must be followed by the four hexadecimal digits of a character");
    }
    position_ += 1 + digits;
    return *number;
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace

tl::expected<EdnMap, std::string> parse_edn_map(std::string_view line) {
  try {
    return EdnReader(line).read_line();
  } catch (const std::runtime_error& error) {
    return tl::unexpected<std::string>(error.what());
  }
}

}  // namespace falafel::checkers::formats
