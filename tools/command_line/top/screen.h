// Draws what a server reported: as a screen of lines, or as one line for scripts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/command_line/top/sample.h"

namespace falafel::top {

struct View {
  std::string name;               // the server's
  std::optional<Sample> now;      // the last report; none: there was none yet
  std::optional<Sample> earlier;  // the one before
  std::string problem;            // why there is no newer report; empty: the last one is new
  double seconds_away = 0;        // how long this has been so
  double interval_seconds = 0;
};

struct ScreenSize {
  std::size_t columns = 80;
  std::size_t rows = 24;
};

// At most `size.rows` lines of at most `size.columns` characters. If the server is away, the last
// report stays, below a line that says so.
std::vector<std::string> draw_screen(const View& view, const ScreenSize& size);

// Fields NAME=VALUE with blanks between them. The first is up=1, or up=0 if the server is away; the
// only other one is then the server's name. Rates end in _per_second and are absent in the first
// line of a run of the server.
std::string draw_line(const View& view);

}  // namespace falafel::top
