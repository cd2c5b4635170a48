#include "explorer/timeline/chrome_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace falafel::timeline {
namespace {

using Json = nlohmann::ordered_json;

class ChromeTrace {
 public:
  explicit ChromeTrace(const Timeline& timeline) : timeline_(timeline) {}

  Json make();

 private:
  void add_names();
  void add_operations();
  void add_requests();
  void add_effects();
  void add_marks();
  void add_standstills();
  void add_flow(std::uint32_t request, const std::vector<std::uint32_t>& effects);
  void add_slice(std::string name, std::string category, std::uint32_t lane, std::uint32_t thread,
                 std::uint64_t first_step, std::uint64_t last_step, Json arguments);
  void add_instant(const std::string& name, std::uint32_t lane, std::uint64_t step);

  double time_us(std::uint64_t step) const;
  static std::uint32_t process(std::uint32_t lane) { return lane + 1; }
  // The first thread has the marks; rows of operations follow, then rows of requests.
  std::uint32_t operation_thread(const OperationSpan& operation) const { return 2 + operation.row; }
  std::uint32_t request_thread(const Request& request) const {
    return 2 + timeline_.lanes[request.lane].operation_rows + request.row;
  }
  std::uint32_t device() const;

  static constexpr std::uint32_t marks_thread = 1;

  const Timeline& timeline_;
  Json events_ = Json::array();
};

std::uint32_t ChromeTrace::device() const {
  const auto found = std::ranges::find(timeline_.lanes, memory_lane, &Lane::kind);
  return static_cast<std::uint32_t>(found - timeline_.lanes.begin());
}

double ChromeTrace::time_us(std::uint64_t step) const {
  const auto next = std::ranges::upper_bound(timeline_.clock, step, {}, &ClockPoint::step);
  const ClockPoint start = next == timeline_.clock.begin() ? ClockPoint{} : *std::prev(next);
  const std::uint64_t time_ns = start.time_ns + (step - start.step) * timeline_.step_duration_ns;
  return static_cast<double>(time_ns) / 1'000;
}

void ChromeTrace::add_names() {
  const auto name = [&](const char* what, std::uint32_t lane, std::uint32_t thread,
                        const std::string& text) {
    events_.push_back({{"name", what},
                       // browsers write this category, and some readers require it
                       {"cat", "__metadata"},
                       {"ph", "M"},
                       {"ts", 0},
                       {"pid", process(lane)},
                       {"tid", thread},
                       {"args", {{"name", text}}}});
  };
  for (std::uint32_t lane = 0; lane < timeline_.lanes.size(); ++lane) {
    const Lane& named = timeline_.lanes[lane];
    name("process_name", lane, 0, named.name);
    name("thread_name", lane, marks_thread, named.kind == memory_lane ? "effects" : "events");
    for (std::uint32_t row = 0; row < named.operation_rows; ++row) {
      name("thread_name", lane, 2 + row, fmt::format("operations {}", row));
    }
    for (std::uint32_t row = 0; row < named.request_rows; ++row) {
      name("thread_name", lane, 2 + named.operation_rows + row, fmt::format("requests {}", row));
    }
  }
}

void ChromeTrace::add_slice(std::string name, std::string category, std::uint32_t lane,
                            std::uint32_t thread, std::uint64_t first_step, std::uint64_t last_step,
                            Json arguments) {
  const double begin_us = time_us(first_step);
  events_.push_back({{"name", std::move(name)},
                     {"cat", std::move(category)},
                     {"ph", "X"},
                     {"ts", begin_us},
                     {"dur", time_us(last_step) - begin_us},
                     {"pid", process(lane)},
                     {"tid", thread},
                     {"args", std::move(arguments)}});
}

void ChromeTrace::add_operations() {
  for (const OperationSpan& operation : timeline_.operations) {
    const std::uint64_t end =
        operation.return_step == never ? timeline_.steps : operation.return_step;
    add_slice(operation.name, "operation", operation.lane, operation_thread(operation),
              operation.call_step, end,
              {{"key", operation.key},
               {"call", operation.text},
               {"answer", operation.answer},
               {"step", operation.call_step}});
  }
}

void ChromeTrace::add_requests() {
  for (const Request& request : timeline_.requests) {
    const std::uint64_t end = request.completed_step == never ? timeline_.steps : request.last_step;
    add_slice(
        std::string(to_string(request.opcode)), "request", request.lane, request_thread(request),
        request.posted_step, end,
        {{"offset", request.offset},
         {"length_bytes", request.length_bytes},
         {"status", request.completed_step == never ? "in flight" : to_string(request.status)},
         {"step", request.posted_step}});
  }
}

void ChromeTrace::add_effects() {
  std::map<std::uint32_t, std::vector<std::uint32_t>> effects_of_requests;
  for (std::uint32_t number = 0; number < timeline_.effects.size(); ++number) {
    const Effect& effect = timeline_.effects[number];
    if (effect.request == none) {
      add_instant(effect.text, effect.lane, effect.step);
      continue;
    }
    add_slice(effect.text, "effect", device(), marks_thread, effect.step, effect.step,
              {{"by", timeline_.lanes[effect.lane].name},
               {"offset", effect.offset},
               {"length_bytes", effect.length_bytes},
               {"step", effect.step}});
    effects_of_requests[effect.request].push_back(number);
  }
  for (const auto& [request, effects] : effects_of_requests) add_flow(request, effects);
}

// The end of a flow lies in the request's own slice, at its completion.
void ChromeTrace::add_flow(std::uint32_t number, const std::vector<std::uint32_t>& effects) {
  const Request& request = timeline_.requests[number];
  const auto add = [&](const char* phase, std::uint32_t lane, std::uint32_t thread,
                       std::uint64_t step) {
    Json event = {{"name", std::string(to_string(request.opcode))},
                  {"cat", "flow"},
                  {"ph", phase},
                  {"id", number},
                  {"ts", time_us(step)},
                  {"pid", process(lane)},
                  {"tid", thread}};
    if (*phase == 'f') event["bp"] = "e";
    events_.push_back(std::move(event));
  };
  add("s", request.lane, request_thread(request), request.posted_step);
  for (const std::uint32_t effect : effects) {
    add("t", device(), marks_thread, timeline_.effects[effect].step);
  }
  const bool has_completed = request.completed_step != never;
  add("f", request.lane, request_thread(request),
      has_completed ? request.last_step : timeline_.effects[effects.back()].step);
}

void ChromeTrace::add_instant(const std::string& name, std::uint32_t lane, std::uint64_t step) {
  const bool is_global = lane == none;
  events_.push_back({{"name", name},
                     {"cat", "event"},
                     {"ph", "i"},
                     {"s", is_global ? "g" : "t"},
                     {"ts", time_us(step)},
                     {"pid", process(is_global ? device() : lane)},
                     {"tid", marks_thread}});
}

void ChromeTrace::add_marks() {
  for (const Mark& mark : timeline_.marks) add_instant(mark.text, mark.lane, mark.step);
  for (const KeyStep& key_step : timeline_.key_steps) {
    if (key_step.role == KeyStepRole::critical || key_step.role == KeyStepRole::violation) {
      add_instant(key_step.text, none, key_step.step);
    }
  }
}

// Pauses may overlap, which complete events of a thread must not.
void ChromeTrace::add_standstills() {
  std::uint32_t number = 0;
  for (const Standstill& standstill : timeline_.standstills) {
    const std::uint64_t end =
        standstill.last_step == never ? timeline_.steps : standstill.last_step;
    for (const auto& [phase, step] : {std::pair{"b", standstill.first_step}, {"e", end}}) {
      events_.push_back({{"name", standstill.is_host ? "paused" : "queue pair stalled"},
                         {"cat", "standstill"},
                         {"ph", phase},
                         {"id", number},
                         {"ts", time_us(step)},
                         {"pid", process(standstill.lane)},
                         {"tid", marks_thread}});
    }
    ++number;
  }
}

Json ChromeTrace::make() {
  add_names();
  add_operations();
  add_requests();
  add_effects();
  add_standstills();
  add_marks();
  return {{"displayTimeUnit", "ns"},
          {"otherData", {{"title", timeline_.title}, {"description", timeline_.description}}},
          {"traceEvents", std::move(events_)}};
}

}  // namespace

Json to_chrome_trace(const Timeline& timeline) { return ChromeTrace(timeline).make(); }

}  // namespace falafel::timeline
