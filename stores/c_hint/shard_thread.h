// The thread of a shard (C-Hint 2.1) whose messages other threads take: a fiber, and the queue of
// the requests that these threads pass to it. It carries them out one after the other.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "fabric/fabric.h"
#include "stores/c_hint/requests.h"
#include "stores/c_hint/shard.h"

namespace falafel::c_hint {

struct ShardWork {
  Request request{};
  ReportProgress report{};  // if it is a report
};

class ShardThread {
 public:
  ShardThread(fabric::Host& host, std::function<void(ShardWork&)> carry_out)
      : host_(host), carry_out_(std::move(carry_out)), has_work_(host.create_event()) {}

  // The body of the fiber; returns when the fiber is cancelled. One request is carried out at a
  // time.
  void run();
  void push(ShardWork work);

  std::deque<ShardWork>& waiting() { return waiting_; }
  bool is_busy() const { return is_busy_; }  // with a request
  std::uint64_t busy_ns() const { return busy_ns_; }

 private:
  void wait_for_work();

  fabric::Host& host_;
  std::function<void(ShardWork&)> carry_out_;
  std::unique_ptr<fabric::Event> has_work_;
  std::deque<ShardWork> waiting_;
  bool is_busy_ = false;
  std::uint64_t busy_ns_ = 0;
};

}  // namespace falafel::c_hint
