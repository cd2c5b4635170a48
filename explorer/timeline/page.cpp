#include "explorer/timeline/page.h"

#include <initializer_list>
#include <string_view>

#include "explorer/timeline/page_template.h"
#include "explorer/timeline/timeline_json.h"
#include "fabric/assert.h"

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

struct Gap {
  std::string_view mark;
  std::string_view content;
};

// Fills the gaps of a template, which are in this order in it.
std::string fill(std::string_view page, std::initializer_list<Gap> gaps) {
  std::string text;
  for (const auto& [mark, content] : gaps) {
    const std::size_t position = page.find(mark);
    FALAFEL_ASSERT(position != std::string_view::npos, "the template has no {}", mark);
    text += page.substr(0, position);
    text += content;
    page.remove_prefix(position + mark.size());
  }
  text += page;
  return text;
}

}  // namespace

// Explanations of checkers may quote any bytes; invalid UTF-8 is replaced.
std::string to_page(const Timeline& timeline) {
  const std::string json =
      to_json(timeline).dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  const std::string_view script =
      timeline.program_part ? timeline.program_part->page_script() : std::string_view();
  return fill(page_template(), {{"{{timeline}}", escape_markup(json)}, {"{{program}}", script}});
}

}  // namespace falafel::timeline
