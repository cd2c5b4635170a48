#include "explorer/pages.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "explorer/child_text.h"
#include "explorer/timeline/key_steps_table.h"
#include "explorer/timeline/record.h"

namespace falafel::explorer {
namespace {

nlohmann::json to_json(const timeline::RecordedTimeline& recorded, const std::string& problem) {
  const timeline::Timeline& timeline = recorded.timeline;
  return {{"problem", problem},
          {"title", timeline.title},
          {"description", timeline.description},
          {"property", recorded.run.property()},
          {"key_steps", timeline::to_markdown_table(timeline)},
          {"steps", timeline.steps},
          {"requests", timeline.requests.size()},
          {"effects", timeline.effects.size()},
          {"has_diverged", recorded.run.result.outcome == sim::Outcome::diverged},
          {"divergence", recorded.run.result.explanation},
          {"trace_hash", recorded.run.result.trace_hash}};
}

std::string draw(const PageRequest& request) {
  const auto runner = request.program.create_runner();
  const timeline::RecordedTimeline recorded = timeline::record_timeline(
      *runner, request.scenario, request.choices,
      {.property = request.property, .critical_tries = request.critical_tries});
  tl::expected<void, std::string> written;
  if (!request.path.empty()) written = timeline::write_page(recorded.timeline, request.path);
  if (written && !request.perfetto.empty()) {
    written = timeline::write_chrome_trace(recorded.timeline, request.perfetto);
  }
  return to_json(recorded, written ? "" : written.error())
      .dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace

tl::expected<Page, std::string> write_page(const PageRequest& request) {
  constexpr double patience_seconds = 3'600;
  const std::string text = text_of_child(patience_seconds, StandardError::shown,
                                         [&](const WriteText& write) { write(draw(request)); });
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) {
    return tl::unexpected(std::string("there is no page, because the run ends its process"));
  }
  if (json["problem"] != "") return tl::unexpected(json["problem"].get<std::string>());
  return Page{.title = json["title"],
              .description = json["description"],
              .property = json["property"],
              .key_steps = json["key_steps"],
              .steps = json["steps"],
              .requests = json["requests"],
              .effects = json["effects"],
              .has_diverged = json["has_diverged"],
              .divergence = json["divergence"],
              .trace_hash = json["trace_hash"]};
}

}  // namespace falafel::explorer
