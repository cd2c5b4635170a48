// Lets other threads obtain a server's report. They send a request, and a fiber of the server's
// host, which alone may inspect the server, answers.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>

#include "tools/server/server_report.h"

namespace falafel::server_program {

class ReportMailbox {
 public:
  // May be called from several other threads concurrently. Blocks; returns nullopt if there is no
  // answer in time.
  std::optional<ServerReport> ask(std::chrono::milliseconds patience);
  // The server's fiber calls this every few milliseconds to answer pending requests.
  void answer(const std::function<ServerReport()>& make_report);

 private:
  std::atomic<bool> is_asked_ = false;
  std::mutex mutex_;
  std::condition_variable answered_;
  std::uint64_t answers_ = 0;  // lets a caller tell an old answer from a new one
  std::optional<ServerReport> report_;
};

}  // namespace falafel::server_program
