#include "explorer/timeline/timeline_json.h"

#include <string_view>

#include "explorer/timeline/columns.h"

namespace falafel::timeline {
namespace {

using Json = nlohmann::ordered_json;

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
    case MarkKind::note: return "note";
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

Json lanes_to_json(const std::vector<Lane>& lanes) {
  Json json = Json::array();
  for (const Lane& lane : lanes) {
    json.push_back({{"kind", lane.kind},
                    {"name", lane.name},
                    {"operation_rows", lane.operation_rows},
                    {"request_rows", lane.request_rows},
                    {"fiber_rows", lane.fiber_rows}});
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
      .add("text", operations,
           [&](const OperationSpan& operation) { return texts(operation.text); })
      .add("label", operations,
           [&](const OperationSpan& operation) { return texts(operation.label); })
      .add("answer", operations,
           [&](const OperationSpan& operation) { return texts(operation.answer); })
      .add("call", operations, [](const OperationSpan& operation) { return operation.call_step; })
      .add("return", operations,
           [](const OperationSpan& operation) { return step_to_json(operation.return_step); })
      .take();
}

Json requests_to_json(const std::vector<Request>& requests, Texts& texts) {
  return Columns()
      .add("lane", requests, [](const Request& request) { return request.lane; })
      .add("row", requests, [](const Request& request) { return request.row; })
      .add("operation", requests,
           [](const Request& request) { return number_to_json(request.operation); })
      .add("opcode", requests,
           [&](const Request& request) { return texts(to_string(request.opcode)); })
      .add("offset", requests, [](const Request& request) { return request.offset; })
      .add("length", requests, [](const Request& request) { return request.length_bytes; })
      .add("compare", requests,
           [&](const Request& request) {
             return is_atomic(request.opcode) ? word_to_json(request.compare) : Json();
           })
      .add("swap", requests,
           [&](const Request& request) {
             return is_atomic(request.opcode) ? word_to_json(request.swap) : Json();
           })
      .add("target", requests, [&](const Request& request) { return texts(request.target); })
      .add("detail", requests, [&](const Request& request) { return texts(request.detail); })
      .add("posted", requests, [](const Request& request) { return request.posted_step; })
      .add("completed", requests,
           [](const Request& request) { return step_to_json(request.completed_step); })
      .add("last", requests, [](const Request& request) { return request.last_step; })
      .add("status", requests,
           [&](const Request& request) { return texts(to_string(request.status)); })
      .take();
}

Json effects_to_json(const std::vector<Effect>& effects, Texts& texts) {
  return Columns()
      .add("request", effects, [](const Effect& effect) { return number_to_json(effect.request); })
      .add("lane", effects, [](const Effect& effect) { return effect.lane; })
      .add("kind", effects, [&](const Effect& effect) { return texts(name_of(effect.kind)); })
      .add("step", effects, [](const Effect& effect) { return effect.step; })
      .add("memory", effects, [](const Effect& effect) { return number_to_json(effect.memory); })
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
                    {"lane", number_to_json(mark.lane)},
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
                    {"last", step_to_json(standstill.last_step)}});
  }
  return json;
}

Json fibers_to_json(const std::vector<FiberRow>& fibers, Texts& texts) {
  return Columns()
      .add("lane", fibers, [](const FiberRow& fiber) { return fiber.lane; })
      .add("row", fibers, [](const FiberRow& fiber) { return fiber.row; })
      .add("name", fibers, [&](const FiberRow& fiber) { return texts(fiber.name); })
      .add("steps", fibers, [](const FiberRow& fiber) { return fiber.steps; })
      .take();
}

Json words_to_json(const Timeline& timeline, Texts& texts) {
  const std::vector<WordRow>& rows = timeline.words;
  const std::vector<WordChange>& changes = timeline.word_changes;
  Json json;
  json["rows"] =
      Columns()
          .add("memory", rows, [](const WordRow& row) { return number_to_json(row.memory); })
          .add("offset", rows, [](const WordRow& row) { return row.offset; })
          .add("length", rows, [](const WordRow& row) { return row.length_bytes; })
          .add("name", rows, [&](const WordRow& row) { return texts(row.name); })
          .take();
  json["changes"] =
      Columns()
          .add("step", changes, [](const WordChange& change) { return change.step; })
          .add("row", changes, [](const WordChange& change) { return change.row; })
          .add("text", changes, [&](const WordChange& change) { return texts(change.text); })
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
                    {"lane", number_to_json(key_step.lane)},
                    {"operation", number_to_json(key_step.operation)},
                    {"effect", number_to_json(key_step.effect)},
                    {"text", key_step.text}});
  }
  return json;
}

}  // namespace

Json to_json(const Timeline& timeline) {
  Texts texts;
  Json json = {{"title", timeline.title},
               {"description", timeline.description},
               {"steps", timeline.steps},
               {"step_duration_ns", timeline.step_duration_ns},
               {"trace_hash", word_to_json(timeline.trace_hash)},
               {"lanes", lanes_to_json(timeline.lanes)},
               {"operations", operations_to_json(timeline.operations, texts)},
               {"requests", requests_to_json(timeline.requests, texts)},
               {"effects", effects_to_json(timeline.effects, texts)},
               {"marks", marks_to_json(timeline.marks)},
               {"standstills", standstills_to_json(timeline.standstills)},
               {"clock", clock_to_json(timeline.clock)},
               {"fibers", fibers_to_json(timeline.fibers, texts)},
               {"words", words_to_json(timeline, texts)},
               {"violations", violations_to_json(timeline.violations)},
               {"key_steps", key_steps_to_json(timeline.key_steps)}};
  if (timeline.program_part) json.update(timeline.program_part->to_json(texts));
  json["texts"] = texts.take();
  return json;
}

}  // namespace falafel::timeline
