// How other threads get a server's report: they ask, and a fiber of the server's host, which alone may
// look into the server, answers.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>

#include "tools/store/server_report.h"

namespace falafel::store {

class ReportMailbox {
 public:
  // From other threads, several at the same time too. Blocks; empty if nobody answers in time.
  std::optional<ServerReport> ask(std::chrono::milliseconds patience);
  // From the server's fiber, every few milliseconds: answers if somebody has asked.
  void answer(const std::function<ServerReport()>& make_report);

 private:
  std::atomic<bool> is_asked_ = false;
  std::mutex mutex_;
  std::condition_variable answered_;
  std::uint64_t answers_ = 0;  // so that who asks tells an old answer from a new one
  std::optional<ServerReport> report_;
};

}  // namespace falafel::store
