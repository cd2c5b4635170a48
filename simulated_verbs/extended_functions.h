// The functions behind the inline functions of verbs.h that an extended context has
// (verbs_context): completion queues that are read field by field (ibv_start_poll), and queue pairs
// that post batches (ibv_wr_start).
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

namespace falafel::simulated_verbs {

// Both set errno and return null on error.
ibv_cq_ex* create_extended_completion_queue(ibv_context* context, ibv_cq_init_attr_ex* wanted);
ibv_qp* create_extended_queue_pair(ibv_context* context, ibv_qp_init_attr_ex* wanted);
int query_extended_attributes(ibv_context* context, const ibv_query_device_ex_input* input,
                              ibv_device_attr_ex* attributes, std::size_t bytes);

// Fields: flags of ibv_create_cq_wc_flags. The functions for other fields stay null, as with real
// devices.
void set_functions(ibv_cq_ex& queue, std::uint64_t fields);

// Operations: flags of ibv_qp_create_send_ops_flags.
bool supports_operations(ibv_qp_type type, std::uint64_t operations);
// From now on, the program may post these by ibv_wr_start and the functions after it.
void set_operations(ibv_qp_ex& queue_pair, std::uint64_t operations);

}  // namespace falafel::simulated_verbs
