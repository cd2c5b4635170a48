// Text of any origin in the pages that the project writes.
#pragma once

#include <string>
#include <string_view>

namespace falafel::checkers {

// The text as HTML that shows it, in an element or in an attribute with double quotes.
std::string html_text(std::string_view text);

}  // namespace falafel::checkers
