#include "stores/c_hint/replacement_policies.h"

#include "stores/c_hint/lru.h"
#include "stores/c_hint/multi_queue.h"
#include "stores/c_hint/options.h"
#include "stores/c_hint/popularity_queues.h"

namespace falafel::c_hint {

std::unique_ptr<Replacement> make_replacement(const Options& options) {
  switch (options.replacement) {
    case ReplacementKind::popularity_queues:
      return std::make_unique<PopularityQueues>(options.queues, options.probes, options.aging);
    case ReplacementKind::lru: return std::make_unique<Lru>(options.probes);
    case ReplacementKind::multi_queue: break;
  }
  return std::make_unique<MultiQueue>(options.queues, options.life_time, options.ghosts);
}

}  // namespace falafel::c_hint
