// Queue pairs that are created alone and connected by number. Two of them have a connection as soon
// as both are at least ready to receive and name each other.
//
// A queue pair that goes back to RESET gets a new queue pair of the fabric, and keeps its number.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fabric/fabric.h"
#include "simulated_verbs/completion_queue.h"
#include "simulated_verbs/object_of_program.h"
#include "simulated_verbs/protection_domain.h"
#include "simulated_verbs/request_batch.h"
#include "simulated_verbs/shared_receive_queue.h"
#include "simulated_verbs/unacknowledged_events.h"

namespace falafel::simulated_verbs {

class ProcessSite;

struct QueuePair : ibv_qp_ex, ObjectOfProgram {
  QueuePair(ProtectionDomain& owner, const ibv_qp_init_attr& wanted);
  ~QueuePair();
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  // Makes the queue pair of the fabric. Returns 0 or an errno, as the next one.
  int make();
  int modify(const ibv_qp_attr& wanted, int mask);
  void query(ibv_qp_attr& attributes, ibv_qp_init_attr& init) const;
  int post_send(const ibv_send_wr& work);
  // All of them or, on error, none.
  int post_sends_together(std::span<const ibv_send_wr> works);
  int post_receive(const ibv_recv_wr& work);
  // Posts a bind of a window of type 1, and gives it its new number.
  int post_bind(ibv_mw& window, const ibv_mw_bind& bind);

  // As the fabric sees it: it may have failed since the last call.
  ibv_qp_state current_state() const;
  bool may_receive() const;

  ProcessSite& process;
  ProtectionDomain& domain;
  CompletionQueue& sends;
  CompletionQueue& receives;
  SharedReceiveQueue* shared_receives;
  ibv_qp_init_attr init;
  ibv_qp_attr attributes{};  // what ibv_modify_qp has set
  std::unique_ptr<fabric::QueuePair> pair;
  UnacknowledgedEvents unacknowledged;
  // Asynchronous events that were raised since the last RESET. Each is raised once.
  struct Raised {
    bool access_error = false;
    bool last_request_reached = false;
  } raised;
  RequestBatch batch;  // of ibv_wr_start and those after it

 private:
  fabric::QueuePairOptions options() const;
  bool may_post_sends() const;
  int refuse_send_in_this_state() const;
  int refuse_request(const char* call, const fabric::Error& error) const;
  int check_attributes(const ibv_qp_attr& wanted, int mask) const;
  void take_attributes(const ibv_qp_attr& wanted, int mask);
  int enter(ibv_qp_state next);
  void set_limits_as_requester();
  void set_rights_of_peer();
  QueuePair* named_peer() const;
  bool names(const QueuePair& other) const;
  void connect_if_possible();
  // Another queue pair was destroyed.
  void hear_end_of(const QueuePair& peer);
  bool is_out_of_sequence_with(const QueuePair& responder) const;

  int post_for_window(const ibv_send_wr& work);
  int translate(const ibv_send_wr& work, fabric::WorkRequest& request);
  void translate_remote(const ibv_send_wr& work, fabric::WorkRequest& request) const;
  int translate_destination(const ibv_send_wr& work, fabric::WorkRequest& request) const;
  int stage_inline_data(const ibv_send_wr& work, fabric::WorkRequest& request);

  bool has_peer_ = false;
  bool reaches_nobody_ = false;  // its packets never have the numbers that its peer expects
  std::vector<fabric::LocalSegment> segments_;  // of the request that is being posted
  // Inline data, which needs no registration by the program, is gathered here.
  std::shared_ptr<fabric::MemoryBlock> stage_;
  std::unique_ptr<fabric::MemoryRegion> stage_region_;
};

inline QueuePair& wrapper_of(ibv_qp_ex* qp) { return *static_cast<QueuePair*>(qp); }
// Its first member is what programs see.
inline QueuePair& wrapper_of(ibv_qp* qp) { return wrapper_of(reinterpret_cast<ibv_qp_ex*>(qp)); }

}  // namespace falafel::simulated_verbs
