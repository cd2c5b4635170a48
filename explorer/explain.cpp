#include "explorer/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <utility>

#include "explorer/child_text.h"
#include "explorer/crash_recorder.h"
#include "explorer/crash_stack.h"
#include "fabric/sim/strategies/replay_strategy.h"

namespace falafel::explorer {
namespace {

constexpr double longest_crash_seconds = 60;

std::string to_line(const nlohmann::json& json) {
  return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n";
}

// Writes each line of a story as soon as it is told, because the run may crash.
class WrittenStory final : public RunListener {
 public:
  WrittenStory(const Vocabulary& vocabulary, const WriteText& write)
      : story_(vocabulary), write_(write) {}

  void observe(const sim::TraceEvent& event) override {
    story_.observe(event);
    write_new_lines();
  }
  void introduce(const sim::Subject& subject) override { story_.introduce(subject); }
  void on_call(std::string_view party, std::uint64_t operation, std::string_view text) override {
    story_.on_call(party, operation, text);
    write_new_lines();
  }
  void on_return(std::string_view party, std::uint64_t operation, std::string_view text) override {
    story_.on_return(party, operation, text);
    write_new_lines();
  }
  void on_note(std::string_view party, std::string_view text) override {
    story_.on_note(party, text);
    write_new_lines();
  }

 private:
  void write_new_lines() {
    for (; written_ < story_.lines().size(); ++written_) {
      const StoryLine& line = story_.lines()[written_];
      write_(to_line({{"step", line.step},
                      {"time_ns", line.time_ns},
                      {"who", line.who},
                      {"text", line.text},
                      {"is_clue", line.is_clue}}));
    }
  }

  Story story_;
  const WriteText& write_;
  std::size_t written_ = 0;
};

nlohmann::json to_json(const Run& run) {
  nlohmann::json violations = nlohmann::json::array();
  for (const checkers::Judgement& violation : run.violations) {
    violations.push_back({{"property", violation.property},
                          {"explanation", violation.explanation},
                          {"step", violation.step}});
  }
  return {{"diverged", run.result.outcome == sim::Outcome::diverged},
          {"explanation", run.result.explanation},
          {"steps", run.result.steps},
          {"hash", run.result.trace_hash},
          {"violations", std::move(violations)}};
}

void write_run(const Program& program, const LoadedReplay& replay, std::uint64_t critical_tries,
               const WriteText& write) {
  const auto runner = program.create_runner();
  WrittenStory story(runner->vocabulary(*replay.scenario), write);
  sim::ReplayStrategy strategy(replay.file.choices);
  Run run = runner->run_observed(*replay.scenario, strategy, story);
  write(to_line({{"run", to_json(run)}}));
  if (!replay.matches(run)) return;
  run.put_first(replay.property);
  const auto critical = find_critical_step(
      *runner, {.scenario = replay.scenario, .choices = replay.file.choices, .run = std::move(run)},
      critical_tries);
  if (!critical) return;
  write(to_line({{"choice", critical->choice},
                 {"critical_step", critical->step},
                 {"deciding_step", critical->deciding_step}}));
}

void read_run(const nlohmann::json& run, const LoadedReplay& replay, Explanation& explanation) {
  const bool has_diverged = run["diverged"];
  explanation.is_as_recorded = !has_diverged && run["hash"] == replay.file.trace_hash;
  explanation.divergence = has_diverged ? run["explanation"] : "The trace hash differs.";
  explanation.steps = run["steps"];
  for (const nlohmann::json& violation : run["violations"]) {
    explanation.violations.push_back({.verdict = checkers::Verdict::violated,
                                      .property = violation["property"],
                                      .explanation = violation["explanation"],
                                      .step = violation["step"]});
  }
}

bool is_about_the_process(const std::string& property) {
  return property == crash_property || property == hang_property;
}

// The run did not come to its end.
void explain_crash(const Program& program, const LoadedReplay& replay, Explanation& explanation) {
  sim::ReplayStrategy strategy(replay.file.choices);
  const auto crash = record_crash(program, *replay.scenario, strategy, longest_crash_seconds);
  explanation.is_as_recorded = crash && crash->property == replay.property;
  explanation.divergence = crash ? crash->explanation : "The run comes to its end.";
  if (!crash) return;
  explanation.steps = crash->steps;
  explanation.violations.push_back(
      {.verdict = checkers::Verdict::violated,
       .property = std::string(crash->property),
       .explanation = crash->explanation + describe_stack(crash->stack)});
}

}  // namespace

Explanation explain(const Program& program, const LoadedReplay& replay,
                    std::uint64_t critical_tries, double seconds) {
  const std::string text = text_of_child(
      seconds, StandardError::discarded,
      [&](const WriteText& write) { write_run(program, replay, critical_tries, write); });
  Explanation explanation;
  bool has_ended = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (json.is_discarded()) break;  // the child was killed while it wrote
    if (json.contains("run")) {
      has_ended = true;
      read_run(json["run"], replay, explanation);
    } else if (json.contains("critical_step")) {
      explanation.critical = {.choice = json["choice"],
                              .step = json["critical_step"],
                              .deciding_step = json["deciding_step"]};
    } else {
      explanation.story.push_back({.step = json["step"],
                                   .time_ns = json["time_ns"],
                                   .who = json["who"],
                                   .text = json["text"],
                                   .is_clue = json["is_clue"]});
    }
  }
  if (!has_ended || is_about_the_process(replay.property)) {
    explain_crash(program, replay, explanation);
  }
  return explanation;
}

namespace {

constexpr std::size_t decisive_mark_column = 7;  // behind the number of the step

// Appends the folded story. Returns where the line belongs that says that the failure is
// inevitable: below the last line of the step that decides, or where that step would be.
std::size_t append_story(const Explanation& explanation, std::vector<std::string>& lines) {
  const std::span<const StoryLine> story(explanation.story);
  const auto first_from = [&](std::uint64_t step) {
    const auto found =
        std::ranges::find_if(story, [&](const StoryLine& line) { return line.step >= step; });
    return static_cast<std::size_t>(found - story.begin());
  };
  const auto append = [&](std::size_t begin, std::size_t end) {
    std::ranges::move(folded_text(story.subspan(begin, end - begin)), std::back_inserter(lines));
  };
  if (!explanation.critical) {
    append(0, story.size());
    return lines.size();
  }
  const std::size_t begin = first_from(explanation.critical->deciding_step);
  const std::size_t end = first_from(explanation.critical->deciding_step + 1);
  append(0, begin);
  for (std::size_t index = begin; index < end; ++index) {
    lines.push_back(to_string(story[index]));
    lines.back()[decisive_mark_column] = '>';
  }
  const std::size_t mark = lines.size();
  append(end, story.size());
  return mark;
}

std::string text_of_clues(const Explanation& explanation) {
  constexpr std::size_t most_clues = 5;
  if (explanation.violations.empty()) return {};
  std::string text;
  for (const StoryLine& clue : last_clues(explanation.story, most_clues)) {
    text += to_string(clue) + "\n";
  }
  return text.empty() ? text
                      : "Why, perhaps: what the program may not expect happened last here\n" + text;
}

}  // namespace

std::string to_text(const Explanation& explanation, bool is_short) {
  constexpr std::size_t most_lines_at_start = 40;
  constexpr std::size_t most_lines_at_end = 120;
  std::vector<std::string> lines;
  const std::size_t mark = append_story(explanation, lines);
  const std::size_t count = lines.size();
  const bool is_cut = is_short && count > most_lines_at_start + most_lines_at_end;
  std::string text;
  for (std::size_t index = 0; index < count; ++index) {
    if (index == mark) text += "        ------------- the violation is inevitable from here on\n";
    const bool is_left_out =
        is_cut && index >= most_lines_at_start && index < count - most_lines_at_end;
    if (!is_left_out) text += lines[index] + "\n";
    if (is_left_out && index == most_lines_at_start) {
      text +=
          fmt::format("        ... {} lines\n", count - most_lines_at_start - most_lines_at_end);
    }
  }
  return text + text_of_clues(explanation);
}

}  // namespace falafel::explorer
