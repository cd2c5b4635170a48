#include "tools/timeline/page.h"

#include <string_view>

#include "fabric/assert.h"
#include "tools/timeline/page_template.h"
#include "tools/timeline/timeline_json.h"

namespace falafel::timeline {
namespace {

// Inside a script element, "<" could start the end tag or a comment. In JSON, it occurs only in
// strings.
std::string escape_markup(const std::string& json) {
  std::string escaped;
  escaped.reserve(json.size());
  for (const char character : json) {
    if (character == '<') {
      escaped += "\\u003c";
    } else {
      escaped += character;
    }
  }
  return escaped;
}

}  // namespace

// Explanations of checkers may quote any bytes; invalid UTF-8 is replaced.
std::string to_page(const Timeline& timeline) {
  constexpr std::string_view mark = "{{timeline}}";
  const std::string json =
      to_json(timeline).dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  const std::string_view page = page_template();
  const std::size_t position = page.find(mark);
  FALAFEL_ASSERT(position != std::string_view::npos, "the template has no {}", mark);
  std::string text(page.substr(0, position));
  text += escape_markup(json);
  text += page.substr(position + mark.size());
  return text;
}

}  // namespace falafel::timeline
