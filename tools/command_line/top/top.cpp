#include "tools/command_line/top/top.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "tools/command_line/top/sample.h"
#include "tools/command_line/top/screen.h"
#include "tools/command_line/top/terminal.h"

namespace falafel::top {
namespace {

using Clock = std::chrono::steady_clock;

class Watch {
 public:
  explicit Watch(const TopOptions& options) : options_(options), terminal_(!options.plain) {
    view_.name = options.name;
    view_.interval_seconds = options.interval_seconds;
  }

  server_program::ExitStatus run(std::string& message) {
    const auto interval = std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(options_.interval_seconds));
    for (std::uint64_t shown = 0;;) {
      const Clock::time_point next = Clock::now() + interval;
      const server_program::ExitStatus status = refresh(message);
      if (status != server_program::success) return status;
      show();
      if (++shown == options_.count || wait_until(next)) return server_program::success;
    }
  }

 private:
  server_program::ExitStatus refresh(std::string& message) {
    auto sample = take_sample(options_.socket);
    if (sample) {
      view_.earlier = std::exchange(view_.now, std::move(*sample));
      view_.problem.clear();
      return server_program::success;
    }
    switch (sample.error().code) {
      case fabric::ErrorCode::connection_refused:
      case fabric::ErrorCode::unreachable: break;
      case fabric::ErrorCode::access_denied:
        message = sample.error().detail + "; run as the user that runs the server";
        return server_program::no_permission;
      default: message = sample.error().detail; return server_program::other_version;
    }
    if (view_.problem.empty()) away_since_ = Clock::now();
    view_.problem = sample.error().detail;
    return server_program::success;
  }

  void show() {
    view_.seconds_away = std::chrono::duration<double>(Clock::now() - away_since_).count();
    if (options_.plain) {
      fmt::print("{}\n", draw_line(view_));
      std::fflush(stdout);
    } else {
      terminal_.draw(draw_screen(view_, terminal_.size()));
    }
  }

  // Returns whether the user quits.
  bool wait_until(Clock::time_point deadline) {
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
      if (left.count() <= 0) return false;
      constexpr std::chrono::milliseconds longest(60'000);
      switch (terminal_.wait(std::min(left, longest))) {
        case TerminalEvent::quit: return true;
        case TerminalEvent::resized:
          if (!options_.plain) show();
          break;
        case TerminalEvent::none: break;
      }
    }
  }

  const TopOptions& options_;
  Terminal terminal_;
  View view_;
  Clock::time_point away_since_ = Clock::now();
};

}  // namespace

server_program::ExitStatus watch(const TopOptions& options, std::string& message) {
  return Watch(options).run(message);
}

}  // namespace falafel::top
