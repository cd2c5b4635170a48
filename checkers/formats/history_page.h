// A page that shows a judged history: the operations of every client in time, the longest order
// that fits, and what does not. The page is one HTML file that needs nothing else.
#pragma once

#include <string>

#include "checkers/formats/specification_judge.h"

namespace falafel::checkers::formats {

std::string history_page(const std::string& title, const JudgedHistory& history);

}  // namespace falafel::checkers::formats
