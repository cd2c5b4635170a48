#include "checkers/html_text.h"

namespace falafel::checkers {

std::string html_text(std::string_view text) {
  std::string html;
  for (const char character : text) {
    switch (character) {
      case '&': html += "&amp;"; break;
      case '<': html += "&lt;"; break;
      case '>': html += "&gt;"; break;
      case '"': html += "&quot;"; break;
      default: html += character; break;
    }
  }
  return html;
}

}  // namespace falafel::checkers
