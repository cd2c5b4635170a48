// The statuses of the C interface for the answers and errors of the C++ interface.
#pragma once

#include "engine/client/results.h"
#include "falafel/falafel.h"
#include "falafel/open_error.h"

namespace falafel {

falafel_status status_of(engine::Answer answer);
falafel_status status_of(const engine::SetResult& result);
// For GET and DELETE. They run out of this process's memory only, a SET also out of the store's.
falafel_status status_of_reading(engine::Answer answer);
falafel_status status_of(OpenProblem problem);

}  // namespace falafel
