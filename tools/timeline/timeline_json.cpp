#include "tools/timeline/timeline_json.h"

#include <fmt/format.h>

#include <map>
#include <string_view>

namespace falafel::timeline {
namespace {

using Json = nlohmann::ordered_json;

std::string_view name_of(LaneKind kind) {
  switch (kind) {
    case LaneKind::client: return "client";
    case LaneKind::device: return "device";
    case LaneKind::collector: return "collector";
    case LaneKind::cleanup: return "cleanup";
    case LaneKind::membership: return "membership";
    case LaneKind::server: return "server";
  }
  return "?";
}

std::string_view name_of(EffectKind kind) {
  switch (kind) {
    case EffectKind::read: return "read";
    case EffectKind::written: return "written";
    case EffectKind::swapped: return "swapped";
    case EffectKind::refused: return "refused";
    case EffectKind::atomic_read: return "atomic read";
    case EffectKind::delivered: return "delivered";
    case EffectKind::lost: return "lost";
    case EffectKind::denied: return "denied";
    case EffectKind::stored: return "stored";
  }
  return "?";
}

std::string_view name_of(MarkKind kind) {
  switch (kind) {
    case MarkKind::fault: return "fault";
    case MarkKind::started: return "started";
    case MarkKind::crashed: return "crashed";
    case MarkKind::fence: return "fence";
    case MarkKind::queue_pair_error: return "error";
    case MarkKind::closed: return "closed";
    case MarkKind::connection: return "connection";
  }
  return "?";
}

std::string_view name_of(KeyStepRole role) {
  switch (role) {
    case KeyStepRole::origin: return "origin";
    case KeyStepRole::context: return "context";
    case KeyStepRole::critical: return "critical";
    case KeyStepRole::stale: return "stale";
    case KeyStepRole::violation: return "violation";
  }
  return "?";
}

Json word(std::uint64_t value) { return fmt::format("{:016x}", value); }
Json step(std::uint64_t value) { return value == never ? Json() : Json(value); }
Json number(std::uint32_t value) { return value == none ? Json() : Json(value); }

// Assigns numbers to texts.
class Texts {
 public:
  Json operator()(std::string_view text) {
    const auto [found, is_new] = numbers_.try_emplace(std::string(text), list_.size());
    if (is_new) list_.push_back(found->first);
    return found->second;
  }
  Json take() { return std::move(list_); }

 private:
  std::map<std::string, std::size_t> numbers_;
  Json list_ = Json::array();
};

// An array for each field of many records.
class Columns {
 public:
  template <typename Records, typename Function>
  Columns& add(const char* name, const Records& records, Function function) {
    Json column = Json::array();
    for (const auto& record : records) column.push_back(function(record));
    columns_[name] = std::move(column);
    return *this;
  }
  Json take() { return std::move(columns_); }

 private:
  Json columns_ = Json::object();
};

Json to_json(const engine::Geometry& geometry) {
  return {{"unit_bytes", geometry.unit_bytes},
          {"table_offset", engine::Geometry::table_offset()},
          {"table_entries", geometry.table_entries},
          {"region_offset", geometry.region_offset(0)},
          {"region_bytes", geometry.region_bytes},
          {"region_count", geometry.region_count},
          {"mature_offsets", {geometry.mature_offset(0), geometry.mature_offset(1)}},
          {"mature_bytes", geometry.mature_bytes}};
}

Json lanes_to_json(const std::vector<Lane>& lanes) {
  Json json = Json::array();
  for (const Lane& lane : lanes) {
    json.push_back({{"kind", name_of(lane.kind)},
                    {"name", lane.name},
                    {"operation_rows", lane.operation_rows},
                    {"request_rows", lane.request_rows}});
  }
  return json;
}

Json operations_to_json(const std::vector<OperationSpan>& operations, Texts& texts) {
  return Columns()
      .add("lane", operations, [](const OperationSpan& operation) { return operation.lane; })
      .add("row", operations, [](const OperationSpan& operation) { return operation.row; })
      .add("kind", operations,
           [&](const OperationSpan& operation) { return texts(operation.kind); })
      .add("key", operations, [&](const OperationSpan& operation) { return texts(operation.key); })
      .add("value", operations,
           [&](const OperationSpan& operation) { return texts(operation.value); })
      .add("answer", operations,
           [&](const OperationSpan& operation) { return texts(operation.answer); })
      .add("call", operations, [](const OperationSpan& operation) { return operation.call_step; })
      .add("return", operations,
           [](const OperationSpan& operation) { return step(operation.return_step); })
      .take();
}

Json requests_to_json(const std::vector<Request>& requests, Texts& texts) {
  return Columns()
      .add("lane", requests, [](const Request& request) { return request.lane; })
      .add("row", requests, [](const Request& request) { return request.row; })
      .add("operation", requests, [](const Request& request) { return number(request.operation); })
      .add("opcode", requests,
           [&](const Request& request) { return texts(to_string(request.opcode)); })
      .add("offset", requests, [](const Request& request) { return request.offset; })
      .add("length", requests, [](const Request& request) { return request.length_bytes; })
      .add("compare", requests,
           [&](const Request& request) {
             return is_atomic(request.opcode) ? word(request.compare) : Json();
           })
      .add("swap", requests,
           [&](const Request& request) {
             return is_atomic(request.opcode) ? word(request.swap) : Json();
           })
      .add("posted", requests, [](const Request& request) { return request.posted_step; })
      .add("completed", requests,
           [](const Request& request) { return step(request.completed_step); })
      .add("last", requests, [](const Request& request) { return request.last_step; })
      .add("status", requests,
           [&](const Request& request) { return texts(to_string(request.status)); })
      .take();
}

Json effects_to_json(const std::vector<Effect>& effects, Texts& texts) {
  return Columns()
      .add("request", effects, [](const Effect& effect) { return number(effect.request); })
      .add("lane", effects, [](const Effect& effect) { return effect.lane; })
      .add("kind", effects, [&](const Effect& effect) { return texts(name_of(effect.kind)); })
      .add("step", effects, [](const Effect& effect) { return effect.step; })
      .add("offset", effects, [](const Effect& effect) { return effect.offset; })
      .add("length", effects, [](const Effect& effect) { return effect.length_bytes; })
      .add("text", effects, [&](const Effect& effect) { return texts(effect.text); })
      .add("sources", effects, [](const Effect& effect) { return effect.sources; })
      .take();
}

Json marks_to_json(const std::vector<Mark>& marks) {
  Json json = Json::array();
  for (const Mark& mark : marks) {
    json.push_back({{"kind", name_of(mark.kind)},
                    {"lane", number(mark.lane)},
                    {"step", mark.step},
                    {"text", mark.text}});
  }
  return json;
}

Json standstills_to_json(const std::vector<Standstill>& standstills) {
  Json json = Json::array();
  for (const Standstill& standstill : standstills) {
    json.push_back({{"lane", standstill.lane},
                    {"host", standstill.is_host},
                    {"first", standstill.first_step},
                    {"last", step(standstill.last_step)}});
  }
  return json;
}

Json memory_to_json(const Memory& memory, Texts& texts) {
  Json json;
  json["containers"] =
      Columns()
          .add("offset", memory.containers, [](const Container& stored) { return stored.offset; })
          .add("size", memory.containers, [](const Container& stored) { return stored.size_bytes; })
          .add("key", memory.containers, [&](const Container& stored) { return texts(stored.key); })
          .add("value", memory.containers,
               [&](const Container& stored) { return texts(stored.value); })
          .take();
  json["slots"] =
      Columns()
          .add("step", memory.slots, [](const SlotChange& change) { return change.step; })
          .add("slot", memory.slots, [](const SlotChange& change) { return change.slot; })
          .add("word", memory.slots, [](const SlotChange& change) { return word(change.word); })
          .add("container", memory.slots,
               [](const SlotChange& change) { return number(change.container); })
          .take();
  json["regions"] =
      Columns()
          .add("step", memory.regions, [](const RegionChange& change) { return change.step; })
          .add("region", memory.regions, [](const RegionChange& change) { return change.region; })
          .add("state", memory.regions,
               [&](const RegionChange& change) { return texts(to_string(change.use.state)); })
          .add("connection", memory.regions,
               [](const RegionChange& change) { return number(change.use.connection); })
          .add("written", memory.regions,
               [](const RegionChange& change) { return change.use.written_bytes; })
          .add("live", memory.regions,
               [](const RegionChange& change) { return change.use.live_bytes; })
          .take();
  json["spaces"] =
      Columns()
          .add("step", memory.spaces, [](const SpaceChange& change) { return change.step; })
          .add("space", memory.spaces, [](const SpaceChange& change) { return change.space; })
          .add("active", memory.spaces, [](const SpaceChange& change) { return change.use.active; })
          .add("waiting", memory.spaces,
               [](const SpaceChange& change) { return change.use.waiting; })
          .add("used", memory.spaces,
               [](const SpaceChange& change) { return change.use.used_bytes; })
          .add("live", memory.spaces,
               [](const SpaceChange& change) { return change.use.live_bytes; })
          .take();
  return json;
}

Json clock_to_json(const std::vector<ClockPoint>& clock) {
  return Columns()
      .add("step", clock, [](const ClockPoint& point) { return point.step; })
      .add("time_ns", clock, [](const ClockPoint& point) { return point.time_ns; })
      .take();
}

Json violations_to_json(const std::vector<Violation>& violations) {
  Json json = Json::array();
  for (const Violation& violation : violations) {
    json.push_back({{"property", violation.property}, {"explanation", violation.explanation}});
  }
  return json;
}

Json key_steps_to_json(const std::vector<KeyStep>& key_steps) {
  Json json = Json::array();
  for (const KeyStep& key_step : key_steps) {
    json.push_back({{"step", key_step.step},
                    {"role", name_of(key_step.role)},
                    {"lane", number(key_step.lane)},
                    {"operation", number(key_step.operation)},
                    {"effect", number(key_step.effect)},
                    {"text", key_step.text}});
  }
  return json;
}

}  // namespace

Json to_json(const Timeline& timeline) {
  Texts texts;
  Json connection_lanes = Json::array();
  for (const std::uint32_t lane : timeline.connection_lanes)
    connection_lanes.push_back(number(lane));
  Json json = {{"title", timeline.title},
               {"description", timeline.description},
               {"geometry", to_json(timeline.geometry)},
               {"steps", timeline.steps},
               {"step_duration_ns", timeline.step_duration_ns},
               {"trace_hash", word(timeline.trace_hash)},
               {"lanes", lanes_to_json(timeline.lanes)},
               {"operations", operations_to_json(timeline.operations, texts)},
               {"requests", requests_to_json(timeline.requests, texts)},
               {"effects", effects_to_json(timeline.effects, texts)},
               {"marks", marks_to_json(timeline.marks)},
               {"standstills", standstills_to_json(timeline.standstills)},
               {"clock", clock_to_json(timeline.clock)},
               {"connection_lanes", std::move(connection_lanes)},
               {"memory", memory_to_json(timeline.memory, texts)},
               {"violations", violations_to_json(timeline.violations)},
               {"key_steps", key_steps_to_json(timeline.key_steps)}};
  json["texts"] = texts.take();
  return json;
}

}  // namespace falafel::timeline
