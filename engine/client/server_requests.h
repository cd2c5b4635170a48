// Requests of one kind that the server answers once: for a cleanup, when a walk over the whole
// table found deleted entries but no empty one, or for the end of operations.
//
// One request is pending at a time. It serves the fibers that started to wait before it was sent; a
// further request follows for the others. The session sends the messages.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "engine/client/results.h"
#include "engine/layout/control_message.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class ServerRequests {
 public:
  ServerRequests(fabric::Host& host, MessageKind kind, std::function<void()> on_message);

  // Waits for the answer to a request that is sent after the call. Returns nullopt after the
  // answer, timed_out or disconnected otherwise.
  std::optional<Answer> wait(std::uint64_t timeout_ns);

  // Handles the server's answer; returns false if no request is pending.
  bool on_done();
  void on_broken();
  // The next message to the server.
  std::optional<ControlMessage> take_message();

 private:
  fabric::Host& host_;
  const MessageKind kind_;
  std::function<void()> on_message_;
  std::unique_ptr<fabric::Event> changed_;
  // Waiting fibers are numbered.
  std::uint64_t last_ = 0;
  std::uint64_t asked_ = 0;   // the pending or last request covers fibers up to this number
  std::uint64_t served_ = 0;  // the server has served fibers up to this number
  bool is_unsent_ = false;
  bool broken_ = false;
};

}  // namespace falafel::engine
