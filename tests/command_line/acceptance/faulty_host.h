// A host whose device does something else than it is asked: a function changes each chain of
// requests before it is posted, or each completion after it has been polled.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "fabric/fabric.h"

namespace falafel::acceptance {

struct Fault {
  std::function<void(std::vector<fabric::WorkRequest>&)> of_chain{};
  std::function<void(fabric::WorkCompletion&)> of_completion{};
};

// The host outlives the one that is made.
std::unique_ptr<fabric::Host> make_faulty_host(fabric::Host& host, Fault fault);

}  // namespace falafel::acceptance
