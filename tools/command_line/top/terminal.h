// The terminal as a screen: drawn over in place, with keys that arrive at once and signals that
// arrive as values, so that the terminal is restored whatever ends the program.
#pragma once

#include <termios.h>

#include <chrono>
#include <string>
#include <vector>

#include "tools/command_line/top/screen.h"

namespace falafel::top {

enum class TerminalEvent : unsigned char { none, quit, resized };

// Receives SIGINT, SIGTERM, SIGHUP, SIGWINCH and SIGTSTP of this process while it exists, also
// without a screen.
class Terminal {
 public:
  // With `is_screen`, takes over the terminal of the standard input and output.
  explicit Terminal(bool is_screen);
  // Restores the terminal.
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  ScreenSize size() const;
  void draw(const std::vector<std::string>& lines);
  // Waits for a key, a signal, or the end of this duration. SIGINT, SIGTERM, SIGHUP and `q` quit.
  // Suspends the program at SIGTSTP (Ctrl-Z), and is `resized` when it continues.
  TerminalEvent wait(std::chrono::milliseconds duration);

 private:
  void enter();
  void leave();
  TerminalEvent read_key();
  TerminalEvent read_signal();

  bool is_screen_;
  bool has_input_;  // of keys
  int signals_ = -1;
  termios before_{};
};

}  // namespace falafel::top
