#include "tools/server/report_mailbox.h"

namespace falafel::server_program {

std::optional<ServerReport> ReportMailbox::ask(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  const std::uint64_t before = answers_;
  is_asked_ = true;
  if (!answered_.wait_for(lock, patience, [&] { return answers_ != before; })) return std::nullopt;
  return report_;
}

void ReportMailbox::answer(const std::function<ServerReport()>& make_report) {
  if (!is_asked_.load(std::memory_order_relaxed)) return;
  const std::lock_guard lock(mutex_);
  report_ = make_report();
  is_asked_ = false;
  ++answers_;
  answered_.notify_all();
}

}  // namespace falafel::server_program
