// The steps of SENDs. A message is delivered in one step, into the buffer of the receiver's oldest
// receive request.
#pragma once

#include "fabric/sim/network/connection.h"
#include "fabric/sim/network/failure.h"
#include "fabric/sim/network/request.h"

namespace falafel::sim {

class Messages {
 public:
  Messages(const Connection& connection, Failure& failure)
      : connection_(connection), failure_(failure) {}

  void progress(Request& request);

 private:
  bool lets_others_pass(Request& request);
  Responder* receiver_of(const Request& request) const;
  void be_refused(Request& request, Responder& receiver, fabric::CompletionStatus status);
  void arrive(Request& request, Responder& receiver);

  const Connection& connection_;
  Failure& failure_;
};

}  // namespace falafel::sim
