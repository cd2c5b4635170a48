// Options of the C interface: texts by name.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "falafel/c_conversions.h"
#include "falafel/cluster.h"
#include "falafel/falafel.h"

// The options of the C interface.
struct falafel_options {
  falafel::ClusterOptions values;  // without servers, which are arguments
  std::string first_mistake;       // empty: none
};

namespace falafel {

// Calls open(options, detail) and writes the detail of an error to `message`. Null options are the
// defaults.
template <typename Open>
falafel_status open_with(const falafel_options* given, char* message, std::size_t message_bytes,
                         const Open& open) {
  // The message if there is no memory for a better one.
  write_message("this process is out of memory; free some", message, message_bytes);
  return guarded([&] {
    const falafel_options defaults;
    const falafel_options& options = given == nullptr ? defaults : *given;
    std::string detail = options.first_mistake;
    const falafel_status status = detail.empty() ? open(options.values, detail) : FALAFEL_INVALID;
    write_message(detail, message, message_bytes);
    return status;
  });
}

// Returns the mistake, if there is one; otherwise an empty text.
std::string set_option(ClusterOptions& options, std::string_view name, std::string_view value);

}  // namespace falafel
