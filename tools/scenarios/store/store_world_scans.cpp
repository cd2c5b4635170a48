// The scans of all keys in a scenario: clients record what they visit.
#include <fmt/format.h>

#include "fabric/at_end.h"
#include "fabric/text.h"
#include "tools/scenarios/store/store_world.h"

namespace falafel::store_scenario {

using engine::Answer;
using fabric::text_of;

checkers::KeyScan& StoreWorld::begin_scan(fabric::Host& host, std::uint32_t client,
                                          std::uint64_t incarnation) {
  scans_[incarnation].push_back(
      {.client = client, .call_time = next_call_time(), .call_ns = host.now_ns()});
  checkers::KeyScan& scan = scans_[incarnation].back();
  if (listener_ != nullptr) listener_->on_scan_called(scan);
  return scan;
}

Answer StoreWorld::end_scan(fabric::Host& host, Answer answer, checkers::KeyScan& scan) {
  scan.is_complete = answer == Answer::found;
  scan.return_ns = host.now_ns();
  scan.return_time = next_return_time();
  if (listener_ != nullptr) listener_->on_scan_returned(scan, answer);
  if (answer == Answer::corrupted && !attacked_.is_any()) {
    violations_.push_back(
        {.verdict = checkers::Verdict::violated,
         .property = "answer.corrupted",
         .explanation = fmt::format("a scan of client {} found corrupted containers", scan.client),
         .calls = {scan.call_time}});
  }
  return answer;
}

Answer StoreWorld::execute_scan(fabric::Host& host, std::uint32_t client,
                                engine::Client& connection) {
  checkers::KeyScan& scan = begin_scan(host, client, connection.server_incarnation());
  const fabric::FiberId fiber = *simulation_->running_fiber();
  watcher_->on_scan_called(fiber, scan, host.now_ns());
  ++clients_[client].unfinished;
  bool completed = false;
  const fabric::AtEnd count([&] {
    --clients_[client].unfinished;
    if (!completed) watcher_->on_operation_abandoned(fiber);
  });
  const auto result = connection.for_each_key([&](const engine::KeyAndValue& pair) {
    ++completed_;
    scan.visits.push_back({.key = text_of(pair.key),
                           .value = text_of(pair.value),
                           .time_to_live_ns = pair.time_to_live_ns,
                           .time = next_return_time(),
                           .time_ns = host.now_ns()});
  });
  completed = true;
  ++completed_;
  const Answer answer = result ? Answer::found : result.error();
  watcher_->on_scan_returned(fiber, scan, answer, host.now_ns());
  return end_scan(host, answer, scan);
}

}  // namespace falafel::store_scenario
