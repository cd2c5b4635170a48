#include "checkers/formats/edn_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "checkers/formats/messages.h"
#include "checkers/formats/numbers.h"
#include "checkers/utf8.h"

namespace falafel::checkers::formats {

namespace {

using Type = EdnValue::Type;

constexpr std::string_view edn_white_space = " \t\r\n\f\v,";
constexpr std::string_view ends_of_words = " \t\r\n\f\v,\"()[]{};";

std::string edn_string(std::string_view text) {
  std::string result = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') result += '\\';
    result += character;
  }
  return result + "\"";
}

std::string list_items(const std::vector<EdnValue>& items) {
  std::string text;
  for (const EdnValue& item : items) text += (text.empty() ? "" : " ") + to_text(item);
  return text;
}

}  // namespace

const EdnValue* EdnValue::find(std::string_view keyword) const {
  for (std::size_t index = 0; index + 1 < items.size(); index += 2) {
    if (items[index].type == Type::keyword && items[index].text == keyword) {
      return &items[index + 1];
    }
  }
  return nullptr;
}

std::string to_text(const EdnValue& value) {
  switch (value.type) {
    case Type::string: return edn_string(value.text);
    case Type::list: return "(" + list_items(value.items) + ")";
    case Type::vector: return "[" + list_items(value.items) + "]";
    case Type::map: return "{" + list_items(value.items) + "}";
    case Type::set: return "#{" + list_items(value.items) + "}";
    case Type::nil:
    case Type::integer:
    case Type::keyword:
    case Type::word: break;
  }
  return value.text;
}

std::optional<EdnValue> EdnReader::read_only_map() {
  skip_white_space();
  if (is_at_end()) return std::nullopt;
  if (!is_next('{')) fail_here("expected a map, {...}");
  EdnValue map = read_map();
  if (!is_at_end()) fail_here("text after the map");
  return map;
}

std::optional<EdnValue> EdnReader::read_next() {
  skip_white_space();
  if (!std::exchange(has_begun_, true) && (is_next('[') || is_next('('))) {
    end_ = is_next('[') ? ']' : ')';
    ++position_;
    skip_white_space();
  }
  if (end_ != 0 && is_next(end_)) {
    ++position_;
    end_ = 0;
    skip_white_space();
    if (!is_at_end()) fail_here("text after the last value");
    return std::nullopt;
  }
  if (is_at_end()) {
    if (end_ != 0) fail_here(fmt::format("the {} ends before the last {}", whole_, end_));
    return std::nullopt;
  }
  begin_ = position_;
  return is_next('{') ? read_map() : read_value(0);
}

void EdnReader::fail_here(const std::string& message) const { throw EdnError(position_, message); }

void EdnReader::fail_at_end(std::string_view inside) const {
  fail_here(fmt::format("the {} ends inside {}", whole_, inside));
}

// Consumes the character and the white space after it.
bool EdnReader::take(char character) {
  if (is_at_end()) fail_at_end("the map");
  if (!is_next(character)) return false;
  ++position_;
  skip_white_space();
  return true;
}

void EdnReader::skip_white_space() {
  for (;;) {
    position_ = std::min(text_.find_first_not_of(edn_white_space, position_), text_.size());
    if (!is_next(';')) return;
    position_ = std::min(text_.find('\n', position_), text_.size());
  }
}

void EdnReader::require_depth(int depth) const {
  if (depth >= edn_max_depth) {
    fail_here(fmt::format("nested more than {} levels deep", edn_max_depth));
  }
}

// The map of an operation.
EdnValue EdnReader::read_map() {
  EdnValue map{.type = Type::map};
  ++position_;
  skip_white_space();
  while (!take('}')) {
    EdnValue name = read_value(1);
    if (name.type != Type::keyword) fail_here("expected a keyword, such as :type, as key");
    if (is_next('}')) fail_here(fmt::format("no value after {}", shortened(name.text)));
    EdnValue value = read_value(1);
    if (map.find(name.text) != nullptr) {
      fail_here(fmt::format("{} occurs twice", shortened(name.text)));
    }
    map.items.push_back(std::move(name));
    map.items.push_back(std::move(value));
  }
  return map;
}

EdnValue EdnReader::read_value(int depth) {
  if (is_at_end()) fail_at_end("the map");
  EdnValue value;
  switch (text_[position_]) {
    case '"': value = {.type = Type::string, .text = read_string()}; break;
    case '{': value = read_collection(Type::map, '}', depth); break;
    case '[': value = read_collection(Type::vector, ']', depth); break;
    case '(': value = read_collection(Type::list, ')', depth); break;
    case '#': value = read_tagged(depth); break;
    default: value = read_word(); break;
  }
  skip_white_space();
  return value;
}

EdnValue EdnReader::read_collection(Type type, char end, int depth) {
  require_depth(depth);
  EdnValue collection{.type = type};
  ++position_;
  skip_white_space();
  while (!is_next(end)) collection.items.push_back(read_value(depth + 1));
  ++position_;
  return collection;
}

// A set, or a tag with its value.
EdnValue EdnReader::read_tagged(int depth) {
  require_depth(depth);
  ++position_;
  if (is_next('{')) return read_collection(Type::set, '}', depth);
  read_word();
  skip_white_space();
  return read_value(depth + 1);
}

EdnValue EdnReader::read_word() {
  const std::size_t end = std::min(text_.find_first_of(ends_of_words, position_), text_.size());
  if (end == position_) fail_here("a value is missing");
  std::string word(text_.substr(position_, end - position_));
  position_ = end;
  if (word == "nil") return {.type = Type::nil, .text = std::move(word)};
  const bool is_keyword = word.size() > 1 && word[0] == ':';
  if (is_keyword) return {.type = Type::keyword, .text = std::move(word)};
  const Type type = parse_number<std::int64_t>(word) ? Type::integer : Type::word;
  return {.type = type, .text = std::move(word)};
}

std::string EdnReader::read_string() {
  std::string string;
  ++position_;
  while (!is_next('"')) {
    const std::size_t end = std::min(text_.find_first_of("\"\\", position_), text_.size());
    string += text_.substr(position_, end - position_);
    position_ = end;
    if (is_at_end()) fail_at_end("a string");
    if (is_next('\\')) read_escape(string);
  }
  ++position_;
  return string;
}

void EdnReader::read_escape(std::string& string) {
  static constexpr std::string_view letters = "tnrbf\\\"";
  static constexpr std::string_view meanings = "\t\n\r\b\f\\\"";
  ++position_;
  if (is_at_end()) fail_at_end("a string");
  if (text_[position_] == 'u') {
    append_utf8(string, read_code_point());
    return;
  }
  const std::size_t index = letters.find(text_[position_]);
  if (index == std::string_view::npos) fail_here("unknown escape in a string");
  string += meanings[index];
  ++position_;
}

char32_t EdnReader::read_code_point() {
  static constexpr std::size_t digits = 4;
  const auto number = parse_number<std::uint16_t>(text_.substr(position_ + 1, digits), 16);
  const bool is_complete = text_.size() > position_ + digits;
  if (!number || !is_complete || (*number >= 0xd800U && *number <= 0xdfffU)) {
    fail_here("\\u must be followed by the four hexadecimal digits of a character");
  }
  position_ += 1 + digits;
  return *number;
}

}  // namespace falafel::checkers::formats
