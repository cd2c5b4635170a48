// Tells a line of a story.
#include <falafel/explorer/campaign.h>
#include <falafel/explorer/story.h>
#include <cstdio>

int main() {
  const falafel::explorer::StoryLine line{.step = 1, .time_ns = 100, .who = "client", .text = "a"};
  const bool is_told = falafel::explorer::to_string(line).find("client") != std::string::npos;
  std::printf("explorer: %s\n", is_told ? "ok" : "not told");
}
