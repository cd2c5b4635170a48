#include "checkers/formats/specification_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "checkers/formats/messages.h"
#include "checkers/formats/specification_readers.h"
#include "checkers/judgement.h"
#include "checkers/monitored_linearizability.h"

namespace falafel::checkers::formats {

namespace {

constexpr std::size_t all_operations = std::numeric_limits<std::size_t>::max();

template <typename S>
typename S::State initial_state(const JudgeSettings& settings) {
  if (!settings.initial) return S::initial();
  if constexpr (requires { Reader<S>::initial(*settings.initial); }) {
    return Reader<S>::initial(*settings.initial);
  } else {
    reject("this specification begins with one state only; remove the initial value");
  }
}

// The calls on one of several independent objects, with their positions in the history.
template <typename S>
struct ObjectHistory {
  std::vector<Call<S>> calls;
  std::vector<std::size_t> positions;
};

void return_to_positions(std::vector<std::size_t>& numbers,
                         const std::vector<std::size_t>& positions) {
  for (std::size_t& number : numbers) number = positions[number];
}

// Judges each object alone, with an equal part of the steps that are left. The report is that of
// the first violated object, else of the first undecided one.
template <typename S>
LinearizabilityReport judge_objects(const std::map<std::string, ObjectHistory<S>>& objects,
                                    const JudgeSettings& settings) {
  LinearizabilityReport worst;
  worst.judgement.verdict = Verdict::holds;
  std::uint64_t steps = 0;
  std::size_t judged = 0;
  std::size_t left = objects.size();
  for (const auto& [name, object] : objects) {
    LinearizabilityLimits limits = settings.limits;
    limits.steps = (settings.limits.steps - std::min(settings.limits.steps, steps)) / left--;
    MonitoredChecker<S> checker(limits, initial_state<S>(settings));
    LinearizabilityReport report = checker.report(object.calls, all_operations);
    steps += report.steps;
    judged += report.judged;
    const bool has_undecided = worst.judgement.verdict == Verdict::unknown;
    if (has_undecided && report.judgement.verdict != Verdict::violated) continue;
    worst = std::move(report);
    return_to_positions(worst.longest_prefix, object.positions);
    return_to_positions(worst.unfitting, object.positions);
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

template <typename S>
void judge(OperationSource& operations, const JudgeSettings& settings, JudgedHistory& judged) {
  initial_state<S>(settings);
  std::map<std::string, ObjectHistory<S>> objects;
  while (const std::optional<json> json_operation = operations.next()) {
    ObjectCall<S> read = read_call<S>(*json_operation);
    ObjectHistory<S>& object = objects[read.object];
    const Call<S>& call = read.call;
    JudgedOperation operation{.client = call.client,
                              .text = S::describe(call.operation, call.answer()),
                              .call_time = call.call_time};
    if (call.result) operation.return_time = call.return_time;
    object.positions.push_back(judged.operations.size());
    object.calls.push_back(std::move(read.call));
    judged.operations.push_back(std::move(operation));
  }
  if (objects.empty()) reject("the history has no operations; add one line for each");
  if (objects.size() == 1 && objects.begin()->first.empty()) {
    MonitoredChecker<S> checker(settings.limits, initial_state<S>(settings));
    judged.report = checker.report(objects.begin()->second.calls, all_operations);
  } else {
    judged.report = judge_objects<S>(objects, settings);
  }
}

using Judge = void (*)(OperationSource&, const JudgeSettings&, JudgedHistory&);

constexpr std::array<std::pair<std::string_view, Judge>, 12> judges = {{
    {"append_log", judge<Log>},
    {"bank", judge<Bank>},
    {"cache_register", judge<Cache>},
    {"cas_register", judge<CasRegister>},
    {"counter", judge<Counter>},
    {"key_value_map", judge<Map>},
    {"lock", judge<Lock>},
    {"priority_queue", judge<PriorityQueue>},
    {"queue", judge<Queue>},
    {"register", judge<Register>},
    {"set", judge<Set>},
    {"stack", judge<Stack>},
}};

}  // namespace

std::optional<std::string> refuse_specification(const std::string& name) {
  std::string known;
  for (const auto& [candidate, judge] : judges) {
    if (candidate == name) return std::nullopt;
    known += (known.empty() ? "" : ", ") + std::string(candidate);
  }
  return fmt::format("the specification is \"{}\", but must be one of: {}", shortened(name), known);
}

JudgedHistory judge_operations(const std::string& specification, OperationSource& operations,
                               const JudgeSettings& settings) {
  if (const auto refused = refuse_specification(specification)) reject(*refused);
  JudgedHistory judged{.specification = specification, .operations = {}, .report = {}};
  const auto* const found = std::ranges::find(
      judges, specification, [](const auto& named) { return std::string(named.first); });
  found->second(operations, settings, judged);
  return judged;
}

}  // namespace falafel::checkers::formats
