#include "explorer/check/starting_line.h"

#include <memory>

namespace falafel::check {

// The event of a host that waits. The host may crash meanwhile.
class StartingLine::Place {
 public:
  Place(StartingLine& line, fabric::Host& host) : line_(line), event_(host.create_event()) {
    line_.waiting_.push_back(event_.get());
  }
  ~Place() { std::erase(line_.waiting_, event_.get()); }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  void wait() {
    while (!line_.is_over_) event_->wait(fabric::never_ns);
  }

 private:
  StartingLine& line_;
  std::unique_ptr<fabric::Event> event_;
};

void StartingLine::wait(fabric::Host& host, std::size_t hosts, const std::function<void()>& start) {
  if (++arrived_ < hosts) return Place(*this, host).wait();
  if (is_over_) return;
  host.sleep_until(host.now_ns() + 1);  // until nothing else can move
  is_over_ = true;
  start();
  for (fabric::Event* const event : waiting_) event->notify_all();
  host.yield();
}

}  // namespace falafel::check
