// falafel top: shows a server again and again, until the user quits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "tools/server/exit_status.h"

namespace falafel::top {

struct TopOptions {
  std::string name;              // the server's
  std::filesystem::path socket;  // of its status
  double interval_seconds = 2;
  std::uint64_t count = 0;  // how many times; 0: until the user quits
  bool plain = false;       // one line each time instead of a screen
};

// Waits for a server that is away. Ends early if this user may not ask it, or if its version is
// another one; `message` then says so. Requires that the process has a single thread.
server_program::ExitStatus watch(const TopOptions& options, std::string& message);

}  // namespace falafel::top
