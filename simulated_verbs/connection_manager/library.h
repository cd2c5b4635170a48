// The parts that the functions of <rdma/rdma_cma.h> share. As in librdmacm, they are code of the
// process that calls the kernel (ConnectionManager) and libibverbs, so they may not run within a
// LibraryCall.
#pragma once

#include <rdma/rdma_cma.h>

#include <string_view>

#include "simulated_verbs/connection_manager/connection_manager.h"
#include "simulated_verbs/connection_manager/identifier.h"
#include "simulated_verbs/library_call.h"
#include "simulated_verbs/process.h"

namespace falafel::simulated_verbs {

// Calls the kernel, before which others may go on. Returns 0, or -1 with errno.
template <typename Function>
int call_manager(std::string_view name, const Function& function) {
  const LibraryCall call(name);
  call.let_others_go_on();
  const int error = function(call.process().connection_manager());
  return error == 0 ? 0 : fail_with_errno(error);
}

// The identifier's event is there; for one with synchronous calls, waits for it first. Returns 0,
// or -1 with the error of the event.
int complete_call(rdma_cm_id* id);

// Each returns 0, or -1 with errno.
int move_to_init(rdma_cm_id* id);
int move_to_ready(rdma_cm_id* id);  // to receive, and to send
int move_to_error(rdma_cm_id* id);

}  // namespace falafel::simulated_verbs
