#include "simulated_verbs/protection_domain.h"

#include "simulated_verbs/process_site.h"

namespace falafel::simulated_verbs {

ProtectionDomain::ProtectionDomain(Context& opened)
    : ibv_pd{}, owner(opened), domain(opened.process.host().device(0).create_protection_domain()) {
  context = &opened.context;
}

}  // namespace falafel::simulated_verbs
