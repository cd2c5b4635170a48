#include "simulated_verbs/unmodified/operations.h"

#include <bit>
#include <cstdint>
#include <cstdlib>
#include <ctime>

#include "fabric/time_units.h"
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
void set(Function*& function, std::uint64_t address) {
  // The address is one of another process.
  function = reinterpret_cast<Function*>(address);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

void set_operations_of_program(Process& process, const Mailboxes& mailboxes) {
  for (const auto& opened : process.verbs().contexts.all()) {
    ibv_context_ops& operations = opened->context.ops;
    if (operations.poll_cq != poll_completions) continue;
    set(operations.poll_cq, mailboxes.operations[0]);
    set(operations.req_notify_cq, mailboxes.operations[1]);
    set(operations.post_send, mailboxes.operations[2]);
    set(operations.post_recv, mailboxes.operations[3]);
    set(operations.post_srq_recv, mailboxes.operations[4]);
    opened->create_cq_ex = nullptr;
    opened->create_qp_ex = nullptr;
  }
}

}  // namespace falafel::simulated_verbs
