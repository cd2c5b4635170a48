#include "checkers/formats/specification_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "checkers/call_outline.h"
#include "checkers/formats/loaded_specification.h"
#include "checkers/formats/messages.h"
#include "checkers/formats/recorded_object.h"
#include "checkers/formats/specification_fields.h"
#include "checkers/formats/specification_readers.h"
#include "checkers/judgement.h"

namespace falafel::checkers::formats {

namespace {

template <typename S>
typename S::State initial_state(const std::optional<json>& initial, JsonTexts& texts) {
  if (!initial) return S::initial();
  if constexpr (requires { Reader<S>::initial(*initial, texts); }) {
    return Reader<S>::initial(*initial, texts);
  } else {
    reject("this specification begins with one state only; remove the initial value");
  }
}

template <typename S>
class ShippedObject final : public RecordedObjectOf<S> {
 public:
  using RecordedObjectOf<S>::RecordedObjectOf;

  void read_operation(Fields& fields) override {
    this->begin(Reader<S>::operation(fields.text("operation"), fields));
  }
  void read_result(Fields& fields) override {
    this->answer(Reader<S>::result(this->last().operation, fields));
  }
};

using MakeObject = std::function<std::unique_ptr<RecordedObject>(const std::optional<json>& initial,
                                                                 JsonTexts& texts)>;
using MakeShippedObject = std::unique_ptr<RecordedObject> (*)(const std::optional<json>& initial,
                                                              JsonTexts& texts);

template <typename S>
std::unique_ptr<RecordedObject> make(const std::optional<json>& initial, JsonTexts& texts) {
  return std::make_unique<ShippedObject<S>>(initial_state<S>(initial, texts));
}

constexpr std::array<std::pair<std::string_view, MakeShippedObject>, 14> specifications_by_name = {{
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
  std::unique_ptr<RecordedObject> object;
  std::vector<std::size_t> positions{};
};

class History {
 public:
  History(MakeObject make_object, const JudgeSettings& settings)
      : make_object_(std::move(make_object)), settings_(settings) {
    make_object_(settings.initial, texts_);  // rejects an initial value that is wrong
  }

  JudgedOperation add(const json& operation, std::size_t position) {
    Fields fields(operation, texts_);
    std::string name;
    if (fields.has("object")) name = std::string(fields.value("object").text);
    CallOutline outline{.client = read_client(fields)};
    ObjectHistory& history = history_of(name);
    RecordedObject& object = *history.object;
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

  static void read_outcome(RecordedObject& object, Fields& fields, CallOutline& outline) {
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

MakeObject maker_of(const std::string& specification, const falafel_specification* library) {
  if (library != nullptr) {
    if (specification == library->name) {
      return [library](const std::optional<json>& initial, JsonTexts& /*texts*/) {
        return make_object(*library, initial);
      };
    }
    reject(fmt::format("the history is of the specification \"{}\", but the library has \"{}\"",
                       shortened(specification), library->name));
  }
  if (const auto refused = refuse_specification(specification)) reject(*refused);
  const auto* const found =
      std::ranges::find(specifications_by_name, specification,
                        [](const auto& named) { return std::string(named.first); });
  return found->second;
}

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
  JudgedHistory judged{.specification = specification, .operations = {}, .report = {}};
  History history(maker_of(specification, settings.library), settings);
  while (const std::optional<json> operation = operations.next()) {
    judged.operations.push_back(history.add(*operation, judged.operations.size()));
  }
  judged.report = history.report();
  return judged;
}

}  // namespace falafel::checkers::formats
