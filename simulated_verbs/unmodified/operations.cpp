#include "simulated_verbs/unmodified/operations.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>

#include "fabric/time_units.h"
#include "simulated_verbs/extended_functions.h"
#include "simulated_verbs/library_call.h"
#include "simulated_verbs/memory_window.h"
#include "simulated_verbs/posting.h"
#include "simulated_verbs/process.h"
#include "simulated_verbs/verbs_objects.h"

extern "C" {

// NOLINTBEGIN(readability-identifier-naming): the linker gives the names.
double __wrap_drand48();
int __wrap_clock_gettime(clockid_t clock, timespec* time);
// NOLINTEND(readability-identifier-naming)

int falafel_poll_cq(ibv_cq* cq, int most, ibv_wc* completions);
int falafel_req_notify(ibv_cq* cq, int solicited_only);
int falafel_post_send(ibv_qp* qp, ibv_send_wr* list, ibv_send_wr** bad);
int falafel_post_recv(ibv_qp* qp, ibv_recv_wr* list, ibv_recv_wr** bad);
int falafel_post_srq_recv(ibv_srq* srq, ibv_recv_wr* list, ibv_recv_wr** bad);
ibv_cq_ex* falafel_create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* wanted);
ibv_qp* falafel_create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* wanted);
int falafel_query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input,
                            ibv_device_attr_ex* attributes, std::size_t bytes);
ibv_mw* falafel_alloc_mw(ibv_pd* pd, ibv_mw_type type);
int falafel_dealloc_mw(ibv_mw* mw);
int falafel_bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind);
std::uint64_t falafel_drand48_bits();
std::uint64_t falafel_read_time_stamp();
void falafel_wait_for_change();

int falafel_poll_cq(ibv_cq* cq, int most, ibv_wc* completions) {
  return falafel::simulated_verbs::poll_completions(cq, most, completions);
}

int falafel_req_notify(ibv_cq* cq, int solicited_only) {
  return falafel::simulated_verbs::request_notification(cq, solicited_only);
}

int falafel_post_send(ibv_qp* qp, ibv_send_wr* list, ibv_send_wr** bad) {
  return falafel::simulated_verbs::post_sends(qp, list, bad);
}

int falafel_post_recv(ibv_qp* qp, ibv_recv_wr* list, ibv_recv_wr** bad) {
  return falafel::simulated_verbs::post_receives(qp, list, bad);
}

int falafel_post_srq_recv(ibv_srq* srq, ibv_recv_wr* list, ibv_recv_wr** bad) {
  return falafel::simulated_verbs::post_shared_receives(srq, list, bad);
}

ibv_cq_ex* falafel_create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* wanted) {
  return falafel::simulated_verbs::create_extended_completion_queue(context, wanted);
}

ibv_qp* falafel_create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* wanted) {
  return falafel::simulated_verbs::create_extended_queue_pair(context, wanted);
}

int falafel_query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input,
                            ibv_device_attr_ex* attributes, std::size_t bytes) {
  return falafel::simulated_verbs::query_extended_attributes(context, input, attributes, bytes);
}

ibv_mw* falafel_alloc_mw(ibv_pd* pd, ibv_mw_type type) {
  return falafel::simulated_verbs::allocate_window(pd, type);
}

int falafel_dealloc_mw(ibv_mw* mw) { return falafel::simulated_verbs::deallocate_window(mw); }

int falafel_bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind) {
  return falafel::simulated_verbs::bind_window(qp, mw, bind);
}

// Calls have results that are words.
std::uint64_t falafel_drand48_bits() { return std::bit_cast<std::uint64_t>(__wrap_drand48()); }

std::uint64_t falafel_read_time_stamp() {
  timespec now{};
  __wrap_clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * falafel::fabric::second_ns +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// The program waits in a loop that makes no call.
void falafel_wait_for_change() {
  falafel::simulated_verbs::LibraryCall("a loop").process().wait_for_activity();
}

}  // extern "C"

namespace falafel::simulated_verbs {

namespace {

template <typename Function>
void set(Function*& function, const Mailboxes& mailboxes, CallNumber call) {
  const auto index =
      static_cast<std::size_t>(call) - static_cast<std::size_t>(CallNumber::of_falafel_poll_cq);
  // The address is one of another process.
  const std::uint64_t address = mailboxes.operations[index];
  function = reinterpret_cast<Function*>(address);  // NOLINT(performance-no-int-to-ptr)
}

// Functions that the object does not have stay null.
template <typename Function>
void replace(Function*& function, const Mailboxes& mailboxes, CallNumber call) {
  if (function != nullptr) set(function, mailboxes, call);
}

void set_operations(Context& opened, const Mailboxes& mailboxes) {
  ibv_context_ops& operations = opened.context.ops;
  if (operations.poll_cq != poll_completions) return;
  set(operations.poll_cq, mailboxes, CallNumber::of_falafel_poll_cq);
  set(operations.req_notify_cq, mailboxes, CallNumber::of_falafel_req_notify_cq);
  set(operations.post_send, mailboxes, CallNumber::of_falafel_post_send);
  set(operations.post_recv, mailboxes, CallNumber::of_falafel_post_recv);
  set(operations.post_srq_recv, mailboxes, CallNumber::of_falafel_post_srq_recv);
  set(operations.alloc_mw, mailboxes, CallNumber::of_falafel_alloc_mw);
  set(operations.dealloc_mw, mailboxes, CallNumber::of_falafel_dealloc_mw);
  set(operations.bind_mw, mailboxes, CallNumber::of_falafel_bind_mw);
  set(opened.create_cq_ex, mailboxes, CallNumber::of_falafel_create_cq_ex);
  set(opened.create_qp_ex, mailboxes, CallNumber::of_falafel_create_qp_ex);
  set(opened.query_device_ex, mailboxes, CallNumber::of_falafel_query_device_ex);
}

#define FALAFEL_REPLACE(name, member) replace(object.member, mailboxes, CallNumber::of_##name);

void replace_functions(ibv_cq_ex& object, const Mailboxes& mailboxes) {
  FALAFEL_QUEUE_CALLS(FALAFEL_REPLACE)
}

void replace_functions(ibv_qp_ex& object, const Mailboxes& mailboxes) {
  FALAFEL_BATCH_CALLS(FALAFEL_REPLACE)
}

#undef FALAFEL_REPLACE

}  // namespace

void set_operations_of_program(Process& process, const Mailboxes& mailboxes, const Mailbox& call) {
  for (const auto& opened : process.verbs().contexts.all()) set_operations(*opened, mailboxes);
  if (call.result == 0) return;
  // The result of a call is a word.
  // NOLINTBEGIN(performance-no-int-to-ptr)
  if (call.call == CallNumber::of_falafel_create_cq_ex) {
    replace_functions(*reinterpret_cast<ibv_cq_ex*>(call.result), mailboxes);
  } else if (call.call == CallNumber::of_falafel_create_qp_ex) {
    replace_functions(wrapper_of(reinterpret_cast<ibv_qp*>(call.result)), mailboxes);
  }
  // NOLINTEND(performance-no-int-to-ptr)
}

}  // namespace falafel::simulated_verbs
