// Specifications of users, in shared libraries (checkers/specification_library.h).
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "checkers/formats/recorded_object.h"
#include "checkers/specification_library.h"

namespace falafel::checkers::formats {

// Tells whether the text is the path of a library, not the name of a shipped specification: it has
// a slash.
bool is_library_path(const std::string& text);

// Loads the library, which then stays loaded. Returns a message if it is none, or one that this
// program cannot use.
tl::expected<const falafel_specification*, std::string> load_specification(const std::string& path);

// An object in its initial state; throws std::runtime_error if the specification refuses the state.
std::unique_ptr<RecordedObject> make_object(const falafel_specification& specification,
                                            const std::optional<nlohmann::json>& initial);

}  // namespace falafel::checkers::formats
