// Lists of fibers that wait for the same thing: a completion, an event, or the end of another
// fiber. All backends use these lists; each backend's scheduler defines how to wake a fiber.
#pragma once

#include <boost/intrusive/list.hpp>

namespace falafel::fabric {

// Base class of fibers that can wait. A waiter is in at most one list and leaves it on destruction.
class Waiter : public boost::intrusive::list_base_hook<
                   boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  bool is_waiting() const { return is_linked(); }
  void stop_waiting() { unlink(); }  // does nothing if it does not wait

 protected:
  ~Waiter() = default;

 private:
  friend class WaitList;
  virtual void wake() = 0;  // the waiter has left its list
};

// The waiters of one list, in the order in which they started to wait.
class WaitList {
 public:
  WaitList() = default;
  // Does not wake remaining waiters; only a deadline or a cancellation ends their wait.
  ~WaitList() = default;
  WaitList(const WaitList&) = delete;
  WaitList& operator=(const WaitList&) = delete;

  bool empty() const { return waiters_.empty(); }
  void add(Waiter& waiter) { waiters_.push_back(waiter); }
  void wake_all() {
    while (!waiters_.empty()) {
      Waiter& first = waiters_.front();
      waiters_.pop_front();
      first.wake();
    }
  }

 private:
  boost::intrusive::list<Waiter, boost::intrusive::constant_time_size<false>> waiters_;
};

}  // namespace falafel::fabric
