#include "tools/command_line/top/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <string_view>

#include "fabric/assert.h"

namespace falafel::top {
namespace {

// Control sequences of terminals (ECMA-48, and xterm for the second screen).
constexpr std::string_view second_screen = "\x1b[?1049h";
constexpr std::string_view first_screen = "\x1b[?1049l";
constexpr std::string_view hide_cursor = "\x1b[?25l";
constexpr std::string_view show_cursor = "\x1b[?25h";
constexpr std::string_view to_the_corner = "\x1b[H";
constexpr std::string_view erase_rest_of_line = "\x1b[K";
constexpr std::string_view erase_below = "\x1b[J";

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGTSTP}) sigaddset(&set, number);
  return set;
}

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

Terminal::Terminal(bool is_screen)
    : is_screen_(is_screen), has_input_(is_screen && ::isatty(STDIN_FILENO) != 0) {
  const sigset_t set = watched_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  FALAFEL_ASSERT(signals_ >= 0, "signalfd failed");
  if (is_screen_) enter();
}

Terminal::~Terminal() {
  if (is_screen_) leave();
  ::close(signals_);
  const sigset_t set = watched_signals();
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void Terminal::enter() {
  if (has_input_) {
    ::tcgetattr(STDIN_FILENO, &before_);
    termios keys = before_;
    keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  }
  print(second_screen);
  print(hide_cursor);
}

void Terminal::leave() {
  print(show_cursor);
  print(first_screen);
  if (has_input_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

ScreenSize Terminal::size() const {
  winsize window{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0) return {};
  return {.columns = window.ws_col, .rows = window.ws_row};
}

void Terminal::draw(const std::vector<std::string>& lines) {
  std::string text(to_the_corner);
  for (std::size_t row = 0; row < lines.size(); ++row) {
    if (row > 0) text += "\r\n";
    text += lines[row];
    text += erase_rest_of_line;
  }
  text += erase_below;
  print(text);
}

TerminalEvent Terminal::wait(std::chrono::milliseconds duration) {
  std::array<pollfd, 2> sources{{{.fd = signals_, .events = POLLIN, .revents = 0},
                                 {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0}}};
  const nfds_t count = has_input_ ? 2 : 1;
  if (::poll(sources.data(), count, static_cast<int>(duration.count())) <= 0) {
    return TerminalEvent::none;
  }
  if (sources[0].revents != 0) return read_signal();
  return read_key();
}

TerminalEvent Terminal::read_key() {
  char key = 0;
  const ssize_t length = ::read(STDIN_FILENO, &key, 1);
  if (length == 0) has_input_ = false;  // the terminal is gone; SIGHUP follows
  return length == 1 && (key == 'q' || key == 'Q') ? TerminalEvent::quit : TerminalEvent::none;
}

TerminalEvent Terminal::read_signal() {
  signalfd_siginfo signal{};
  if (::read(signals_, &signal, sizeof(signal)) != sizeof(signal)) return TerminalEvent::none;
  if (signal.ssi_signo == SIGWINCH) return TerminalEvent::resized;
  if (signal.ssi_signo != SIGTSTP) return TerminalEvent::quit;
  if (is_screen_) leave();
  std::raise(SIGSTOP);
  if (is_screen_) enter();
  return TerminalEvent::resized;
}

}  // namespace falafel::top
