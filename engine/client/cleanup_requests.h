// Cleanups that insertions ask the server for: of a table whose walk met deleted entries, but no empty one.
//
// One request is under way at a time. A cleanup serves those who began to wait before it was asked for; the
// others have the next one asked for. Messages are sent by the session.
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

  // Waits for a cleanup that begins after the call. None if there was one; else timed_out or disconnected.
  std::optional<Answer> wait();

  // What the server says; false if that makes no sense.
  bool on_done();
  void on_broken();
  // The next message to the server.
  std::optional<ControlMessage> take_message();

 private:
  fabric::Host& host_;
  std::uint64_t server_timeout_ns_;
  std::function<void()> on_message_;
  std::unique_ptr<fabric::Event> changed_;
  // Those who wait are numbered.
  std::uint64_t last_ = 0;
  std::uint64_t asked_ = 0;   // up to whom the request under way, or the last one, was made
  std::uint64_t served_ = 0;  // up to whom there was a cleanup
  bool is_unsent_ = false;
  bool broken_ = false;
};

}  // namespace falafel::engine
