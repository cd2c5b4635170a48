// The time of conductors of programs that run in real time.
#pragma once

#include "tools/benchmarks/store/conductor.h"

namespace falafel::store_benchmark {

Timekeeper system_time();

}  // namespace falafel::store_benchmark
