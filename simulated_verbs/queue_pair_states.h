// The states of a queue pair, and what ibv_modify_qp needs for each change: the table of the
// InfiniBand specification (11.2.5.2), as Linux checks it. SQD is not simulated.
#pragma once

#include <infiniband/verbs.h>

#include <string>
#include <string_view>

namespace falafel::simulated_verbs {

// Tells if a queue pair of this type may go from one state to another with these attributes
// (ibv_qp_attr_mask).
bool may_change_state(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to, int mask);
// Requires that it may not. A sentence.
std::string explain_refused_change(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to, int mask);
std::string_view name_of(ibv_qp_state state);

}  // namespace falafel::simulated_verbs
