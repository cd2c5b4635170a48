// Options of the C interface: texts by name.
#pragma once

#include <string>
#include <string_view>

#include "falafel/cluster.h"
#include "falafel/falafel.h"

// What the C interface calls falafel_options.
struct falafel_options {
  falafel::ClusterOptions values;  // without servers, which are arguments
  std::string first_mistake;       // empty: none
};

namespace falafel {

// Returns the mistake, if there is one; otherwise an empty text.
std::string set_option(ClusterOptions& options, std::string_view name, std::string_view value);

}  // namespace falafel
