// Cleanups that insertions request from the server when a walk over the whole table finds deleted
// entries but no empty one.
//
// One request is pending at a time. A cleanup serves the fibers that started to wait before it was
// requested; a further request follows for the others. The session sends the messages.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "engine/client/results.h"
#include "engine/layout/control_message.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class CleanupRequests {
 public:
  CleanupRequests(fabric::Host& host, std::uint64_t server_timeout_ns,
                  std::function<void()> on_message);

  // Waits for a cleanup that begins after the call. Returns nullopt after the cleanup, timed_out or
  // disconnected otherwise.
  std::optional<Answer> wait();

  // Handles the server's answer; returns false if no request is pending.
  bool on_done();
  void on_broken();
  // The next message to the server.
  std::optional<ControlMessage> take_message();

 private:
  fabric::Host& host_;
  std::uint64_t server_timeout_ns_;
  std::function<void()> on_message_;
  std::unique_ptr<fabric::Event> changed_;
  // Waiting fibers are numbered.
  std::uint64_t last_ = 0;
  std::uint64_t asked_ = 0;   // the pending or last request covers fibers up to this number
  std::uint64_t served_ = 0;  // a cleanup has served fibers up to this number
  bool is_unsent_ = false;
  bool broken_ = false;
};

}  // namespace falafel::engine
