// Recorded histories of the shipped specifications (checkers/specifications) as JSON Lines. The
// first line names the specification; every other line is one operation (docs/checkers.md).
#pragma once

#include <istream>
#include <tl/expected.hpp>

#include "checkers/formats/recorded_history.h"
#include "checkers/formats/specification_judge.h"

namespace falafel::checkers::formats {

// Reads a history and judges it by the specification that it names. The first line may also name
// the initial state, unless the settings do.
tl::expected<JudgedHistory, ReadError> judge_specification_lines(std::istream& input,
                                                                 const ReadLimits& read_limits,
                                                                 const JudgeSettings& settings);

}  // namespace falafel::checkers::formats
