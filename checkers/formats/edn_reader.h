// Reads EDN, the notation of Clojure's values, from a text of any number of lines. Tags are
// dropped: #jepsen.history.Op{...} is a map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace falafel::checkers::formats {

// The maximum nesting depth of collections. The reader is recursive.
inline constexpr int edn_max_depth = 32;

struct EdnValue {
  enum class Type : std::uint8_t { nil, integer, string, keyword, word, list, vector, map, set };
  Type type = Type::nil;
  std::string text{};             // strings: the decoded text; other scalars: the source text
  std::vector<EdnValue> items{};  // maps: keys and values alternate

  // The value of a map under a keyword, ":" included; null: there is none.
  const EdnValue* find(std::string_view keyword) const;
};

// The value as EDN writes it, on one line.
std::string to_text(const EdnValue& value);

struct EdnError : std::runtime_error {
  EdnError(std::size_t where, const std::string& message)
      : std::runtime_error(message), position(where) {}
  std::size_t position;  // in the text
};

class EdnReader {
 public:
  // `whole` is what the text is in messages: "line".
  EdnReader(std::string_view text, std::string_view whole) : text_(text), whole_(whole) {}

  // Reads a map that is the whole text; nullopt: the text is empty. Keys are keywords, each occurs
  // once. Throws EdnError.
  std::optional<EdnValue> read_only_map();

  // Reads the next value; nullopt: the end. The elements of a list or vector around all values are
  // read one by one. Throws EdnError.
  std::optional<EdnValue> read_next();

  // The place at which the value that was read last begins.
  std::size_t position_of_value() const { return begin_; }

 private:
  [[noreturn]] void fail_here(const std::string& message) const;
  [[noreturn]] void fail_at_end(std::string_view inside) const;
  bool is_at_end() const { return position_ == text_.size(); }
  bool is_next(char character) const { return !is_at_end() && text_[position_] == character; }
  bool take(char character);
  void skip_white_space();
  void require_depth(int depth) const;
  EdnValue read_value(int depth);
  EdnValue read_map();
  EdnValue read_collection(EdnValue::Type type, char end, int depth);
  EdnValue read_tagged(int depth);
  EdnValue read_word();
  std::string read_string();
  void read_escape(std::string& string);
  char32_t read_code_point();

  std::string_view text_;
  std::string_view whole_;
  std::size_t position_ = 0;
  std::size_t begin_ = 0;
  bool has_begun_ = false;
  char end_ = 0;  // of the list or vector around all values
};

}  // namespace falafel::checkers::formats
