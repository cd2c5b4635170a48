#include "checkers/formats/specification_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "checkers/call_outline.h"
#include "checkers/formats/messages.h"
#include "checkers/formats/specification_fields.h"
#include "checkers/formats/specification_readers.h"
#include "checkers/judgement.h"
#include "checkers/monitored_linearizability.h"

namespace falafel::checkers::formats {

namespace {

constexpr std::size_t all_operations = std::numeric_limits<std::size_t>::max();

template <typename S>
typename S::State initial_state(const std::optional<json>& initial, JsonTexts& texts) {
  if (!initial) return S::initial();
  if constexpr (requires { Reader<S>::initial(*initial, texts); }) {
    return Reader<S>::initial(*initial, texts);
  } else {
    reject("this specification begins with one state only; remove the initial value");
  }
}

// The calls on one of several independent objects. Only its members know the specification's types.
class Object {
 public:
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;

  // Begins the next call.
  virtual void read_operation(Fields& fields) = 0;
  virtual void read_result(Fields& fields) = 0;
  // Ends the call; returns its description.
  virtual std::string add(const CallOutline& outline) = 0;

  virtual LinearizabilityReport report(const LinearizabilityLimits& limits) const = 0;
};

template <typename S>
class ObjectOf final : public Object {
 public:
  explicit ObjectOf(typename S::State initial) : initial_(std::move(initial)) {}

  void read_operation(Fields& fields) override {
    calls_.emplace_back().operation = Reader<S>::operation(fields.text("operation"), fields);
  }

  void read_result(Fields& fields) override {
    calls_.back().result = Reader<S>::result(calls_.back().operation, fields);
  }

  std::string add(const CallOutline& outline) override {
    Call<S>& call = calls_.back();
    call.client = outline.client;
    call.call_time = outline.call_time;
    call.return_time = outline.return_time;
    call.is_refused = outline.is_refused;
    return S::describe(call.operation, call.answer());
  }

  LinearizabilityReport report(const LinearizabilityLimits& limits) const override {
    return MonitoredChecker<S>(limits, initial_).report(calls_, all_operations);
  }

 private:
  typename S::State initial_;
  std::vector<Call<S>> calls_;
};

using MakeObject = std::unique_ptr<Object> (*)(const std::optional<json>& initial,
                                               JsonTexts& texts);

template <typename S>
std::unique_ptr<Object> make(const std::optional<json>& initial, JsonTexts& texts) {
  return std::make_unique<ObjectOf<S>>(initial_state<S>(initial, texts));
}

constexpr std::array<std::pair<std::string_view, MakeObject>, 14> specifications_by_name = {{
    {"append_log", make<Log>},
    {"bank", make<Bank>},
    {"cache_register", make<Cache>},
    {"cas_register", make<CasRegister>},
    {"counter", make<Counter>},
    {"key_value_map", make<Map>},
    {"lock", make<Lock>},
    {"multi_register", make<MultiRegister>},
    {"priority_queue", make<PriorityQueue>},
    {"queue", make<Queue>},
    {"register", make<Register>},
    {"set", make<Set>},
    {"stack", make<Stack>},
    {"write_once_log", make<WriteOnceLog>},
}};

// An object's calls, with their positions in the history.
struct ObjectHistory {
  std::unique_ptr<Object> object;
  std::vector<std::size_t> positions{};
};

class History {
 public:
  History(MakeObject make_object, const JudgeSettings& settings)
      : make_object_(make_object), settings_(settings) {
    make_object(settings.initial, texts_);  // rejects an initial value that is wrong
  }

  JudgedOperation add(const json& operation, std::size_t position) {
    Fields fields(operation, texts_);
    std::string name;
    if (fields.has("object")) name = std::string(fields.value("object").text);
    CallOutline outline{.client = read_client(fields)};
    ObjectHistory& history = history_of(name);
    Object& object = *history.object;
    object.read_operation(fields);
    read_outcome(object, fields, outline);
    fields.require_all_read();
    history.positions.push_back(position);
    JudgedOperation judged{
        .client = outline.client, .text = object.add(outline), .call_time = outline.call_time};
    if (outline.has_answer) judged.return_time = outline.return_time;
    return judged;
  }

  LinearizabilityReport report() const {
    if (objects_.empty()) reject("the history has no operations; add one line for each");
    const auto& [name, only] = *objects_.begin();
    const bool has_one_object = objects_.size() == 1 && name.empty();
    return has_one_object ? only.object->report(settings_.limits) : report_objects();
  }

 private:
  ObjectHistory& history_of(const std::string& name) {
    ObjectHistory& history = objects_[name];
    if (history.object == nullptr) history.object = make_object_(settings_.initial, texts_);
    return history;
  }

  static std::uint32_t read_client(Fields& fields) {
    const std::uint64_t client = fields.number("client");
    if (client > std::numeric_limits<std::uint32_t>::max()) {
      reject(fmt::format("client {} exceeds 32 bits", client));
    }
    return static_cast<std::uint32_t>(client);
  }

  static void read_outcome(Object& object, Fields& fields, CallOutline& outline) {
    outline.call_time = fields.number("call");
    const std::string outcome = fields.text("outcome");
    if (outcome == "answered") {
      outline.has_answer = true;
      outline.return_time = fields.number("return");
      if (outline.return_time < outline.call_time) {
        reject(fmt::format("the operation returns at {}, before its call at {}",
                           outline.return_time, outline.call_time));
      }
      object.read_result(fields);
    } else if (outcome == "refused") {
      outline.is_refused = true;
      outline.return_time = fields.number("return");
    } else if (outcome != "indeterminate") {
      reject(fmt::format("the outcome is \"{}\", but must be answered, indeterminate or refused",
                         shortened(outcome)));
    }
  }

  // Judges each object alone, with an equal part of the steps that are left. The report is that of
  // the first violated object, else of the first undecided one.
  LinearizabilityReport report_objects() const {
    LinearizabilityReport worst;
    worst.judgement.verdict = Verdict::holds;
    std::uint64_t steps = 0;
    std::size_t judged = 0;
    std::size_t left = objects_.size();
    for (const auto& [name, history] : objects_) {
      LinearizabilityLimits limits = settings_.limits;
      limits.steps = (limits.steps - std::min(limits.steps, steps)) / left--;
      LinearizabilityReport report = history.object->report(limits);
      steps += report.steps;
      judged += report.judged;
      const bool has_undecided = worst.judgement.verdict == Verdict::unknown;
      if (has_undecided && report.judgement.verdict != Verdict::violated) continue;
      worst = std::move(report);
      return_to_positions(worst.longest_prefix, history.positions);
      return_to_positions(worst.unfitting, history.positions);
      if (worst.judgement.verdict == Verdict::holds) continue;
      worst.key = name;
      worst.judgement.explanation =
          fmt::format("Of object {}, {}", shortened(name), worst.judgement.explanation);
      if (worst.judgement.verdict == Verdict::violated) break;
    }
    worst.steps = steps;
    worst.judged = judged;
    return worst;
  }

  static void return_to_positions(std::vector<std::size_t>& numbers,
                                  const std::vector<std::size_t>& positions) {
    for (std::size_t& number : numbers) number = positions[number];
  }

  MakeObject make_object_;
  const JudgeSettings& settings_;
  JsonTexts texts_;
  std::map<std::string, ObjectHistory> objects_;  // by name
};

}  // namespace

std::optional<std::string> refuse_specification(const std::string& name) {
  std::string known;
  for (const auto& [candidate, make_object] : specifications_by_name) {
    if (candidate == name) return std::nullopt;
    known += (known.empty() ? "" : ", ") + std::string(candidate);
  }
  return fmt::format("the specification is \"{}\", but must be one of: {}", shortened(name), known);
}

JudgedHistory judge_operations(const std::string& specification, OperationSource& operations,
                               const JudgeSettings& settings) {
  if (const auto refused = refuse_specification(specification)) reject(*refused);
  const auto* const found =
      std::ranges::find(specifications_by_name, specification,
                        [](const auto& named) { return std::string(named.first); });
  JudgedHistory judged{.specification = specification, .operations = {}, .report = {}};
  History history(found->second, settings);
  while (const std::optional<json> operation = operations.next()) {
    judged.operations.push_back(history.add(*operation, judged.operations.size()));
  }
  judged.report = history.report();
  return judged;
}

}  // namespace falafel::checkers::formats
