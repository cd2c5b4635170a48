// Histories that Jepsen and Knossos write: EDN maps or records of type jepsen.history.Op, each on
// its own, in a vector or in a list; and the lines of jepsen.log (docs/checkers.md).
#pragma once

#include <istream>
#include <string>
#include <tl/expected.hpp>

#include "checkers/formats/recorded_history.h"
#include "checkers/formats/specification_judge.h"

namespace falafel::checkers::formats {

// Reads a history and judges it by the specification with this name; empty: the functions of the
// operations select it.
tl::expected<JudgedHistory, ReadError> judge_jepsen_history(std::istream& input,
                                                            const std::string& specification,
                                                            const ReadLimits& read_limits,
                                                            const JudgeSettings& settings);

}  // namespace falafel::checkers::formats
