#include "explorer/commands/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "checkers/html_text.h"
#include "explorer/commands/coverage_curve.h"

namespace falafel::command_line {
namespace {

using checkers::html_text;

constexpr std::string_view style = R"(
:root { color-scheme: light dark; --text: #1d2433; --dim: #667085; --line: #d9dee7;
  --back: #ffffff; --card: #f6f8fb; --accent: #2563eb; --good: #15803d; --bad: #b91c1c; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e9ef; --dim: #9aa4b5; --line: #333c4d; --back: #12161e; --card: #1b212c;
    --accent: #7aa2ff; --good: #4ade80; --bad: #f87171; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back);
  max-width: 980px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
.verdict { font-weight: 600; margin: .3rem 0 1rem; } .good { color: var(--good); }
.bad { color: var(--bad); } .dim, figcaption { color: var(--dim); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(205px, 1fr)); gap: .6rem; }
.tile, .finding { background: var(--card); border: 1px solid var(--line); border-radius: 6px; }
.tile { padding: .5rem .8rem; } .tile b { display: block; font-size: 1.15rem;
  overflow-wrap: anywhere; }
.finding { padding: .7rem 1rem; margin: .8rem 0; border-left: 4px solid var(--bad); }
.finding h3 { margin: 0; font-size: 1rem; font-family: ui-monospace, monospace; }
.badge { background: var(--bad); color: var(--back); border-radius: 4px; font-size: .75rem;
  padding: .05rem .4rem; margin-left: .5rem; font-family: system-ui, sans-serif; }
pre { overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .8rem;
  margin: .4rem 0; } code { font-family: ui-monospace, monospace; font-size: .85rem; }
pre.command { background: var(--back); border: 1px solid var(--line); border-radius: 4px;
  padding: .35rem .6rem; }
figure { margin: 0 0 1rem; } svg { width: 100%; height: auto; } svg text { font: 11px system-ui;
  fill: var(--dim); } .grid { stroke: var(--line); } .goal { stroke: var(--dim);
  stroke-dasharray: 4 4; } .curve { fill: none; stroke: var(--accent); stroke-width: 2; }
table { border-collapse: collapse; width: 100%; font-size: .88rem; }
a { color: var(--accent); } th { text-align: left; color: var(--dim); font-weight: 500; }
td, th { padding: .15rem .6rem .15rem 0; border-bottom: 1px solid var(--line); }
td.number, th.number { text-align: right; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
table { margin-bottom: 1.2rem; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(400px, 1fr));
  gap: 0 2rem; } .never td { color: var(--bad); }
.bar { background: var(--accent); height: .5rem; border-radius: 2px; }
)";

// Groups of three digits are easier to read: 1,234,567.
std::string grouped(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string tile(std::string_view name, const std::string& value) {
  return fmt::format("<div class=\"tile\"><span class=\"dim\">{}</span><b>{}</b></div>\n", name,
                     html_text(value));
}

std::string options_text(const explorer::CampaignIdentity& identity) {
  std::string text;
  for (const auto& [name, values] : identity.options) {
    for (const std::string& value : values) {
      text += fmt::format("{}{} {}", text.empty() ? "" : " ", name, value);
    }
  }
  return text.empty() ? "none" : text;
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

bool holds(const ReportPage& page) {
  return page.findings.empty() && page.missed_conditions.empty();
}

std::string head(const ReportPage& page) {
  return fmt::format("<h1>{}</h1>\n<p class=\"verdict {}\">{}</p>\n", html_text(page.title),
                     holds(page) ? "good" : "bad", verdict_of(page));
}

std::uint64_t total_of(const explorer::NamedCounts& counts) {
  std::uint64_t sum = 0;
  for (const auto& [name, count] : counts) sum += count;
  return sum;
}

std::string figures(const ReportPage& page) {
  const explorer::CampaignResult& results = page.results;
  std::string html = "<div class=\"tiles\">\n";
  html += tile("schedules", grouped(results.schedules));
  html += tile("steps", grouped(results.steps));
  html += tile("time of all shards", time_text(results.seconds));
  html += tile("schedules per second of a shard",
               grouped(static_cast<std::uint64_t>(static_cast<double>(results.schedules) /
                                                  std::max(results.seconds, 1e-9))));
  html += tile("campaign hash", fmt::format("{:016x}", results.hash));
  html += tile("not judged", grouped(results.unknown));
  html += tile("files of results", grouped(page.files));
  html += tile("faults struck", grouped(total_of(results.faults)));
  html += "</div>\n";
  html += fmt::format(
      "<p class=\"dim\">Program <code>{}</code>, build <code>{}</code>, options "
      "<code>{}</code>.</p>\n<details class=\"dim\"><summary>Seeds: {}</summary>{}</details>\n",
      html_text(results.identity.program), html_text(results.identity.build),
      html_text(options_text(results.identity)), counted(results.seeds.size(), "range"),
      html_text(describe_seeds(results.seeds)));
  return html;
}

// Names of properties may contain what a URL reserves.
std::string percent_encoded(std::string_view path) {
  constexpr std::string_view plain = "-._~/";
  std::string url;
  for (const char character : path) {
    const bool is_plain =
        (character >= '0' && character <= '9') || (character >= 'A' && character <= 'Z') ||
        (character >= 'a' && character <= 'z') || plain.find(character) != std::string_view::npos;
    url += is_plain ? std::string(1, character)
                    : fmt::format("%{:02X}", static_cast<unsigned char>(character));
  }
  return url;
}

// As a page of the same machine can open it.
std::string link_to(const std::string& path, const std::string& folder) {
  std::error_code error;
  const auto relative = std::filesystem::relative(path, folder, error);
  return percent_encoded(error || relative.empty() ? path : relative.string());
}

// How a user repeats the finding.
std::string command_for(const ReportPage& page, const FindingReport& report) {
  if (!report.replay_path.empty()) {
    return fmt::format("{} replay {}", page.executable, report.replay_path);
  }
  const explorer::CampaignIdentity& identity = page.results.identity;
  return fmt::format("{} fuzz --seed {} --schedules 1{}", page.executable, report.finding.seed,
                     identity.options.empty() ? "" : " " + options_text(identity));
}

std::string occurrence(const ReportedFinding& found) {
  const FindingReport& report = found.report;
  std::string text = fmt::format(
      "Schedules that violate this property: {}. The lowest seed of this finding is {}.",
      grouped(found.schedules), report.finding.seed);
  if (report.steps_after > 0 && report.finding.steps > 0) {
    text += fmt::format(" The run has {} steps, {} after shrinking.", grouped(report.finding.steps),
                        grouped(report.steps_after));
  }
  return text;
}

std::string finding_html(const ReportPage& page, const ReportedFinding& found) {
  const FindingReport& report = found.report;
  std::string html =
      fmt::format("<section class=\"finding\"><h3>{}{}</h3>\n", html_text(report.finding.property),
                  found.is_new ? " <span class=\"badge\">new</span>" : "");
  if (!found.fingerprint.empty()) {
    html += fmt::format("<p><code>{}</code></p>\n", html_text(found.fingerprint));
  }
  html += fmt::format("<p class=\"dim\">{}</p>\n<pre class=\"command\">{}</pre>\n",
                      occurrence(found), html_text(command_for(page, report)));
  if (!report.trace_path.empty()) {
    html += fmt::format("<p><a href=\"{}\">The run, step by step</a></p>\n",
                        html_text(link_to(report.trace_path, page.folder)));
  }
  html += fmt::format("<details><summary>What the checker says</summary><pre>{}</pre></details>\n",
                      html_text(report.finding.explanation));
  return html + "</section>\n";
}

std::string findings_html(const ReportPage& page) {
  std::string html = "<h2>Findings</h2>\n";
  if (page.findings.empty()) return html + "<p>None.</p>\n";
  if (!page.note.empty()) html += fmt::format("<p class=\"bad\">{}</p>\n", html_text(page.note));
  for (const ReportedFinding& found : page.findings) html += finding_html(page, found);
  return html;
}

std::string latest_reached(const explorer::CampaignResult& results) {
  constexpr std::size_t most = 15;
  std::vector<std::pair<std::string, explorer::FirstReach>> reached(results.first_reached.begin(),
                                                                    results.first_reached.end());
  std::ranges::stable_sort(reached, std::greater(),
                           [](const auto& entry) { return entry.second.seconds; });
  if (reached.size() > most) reached.resize(most);
  std::string html =
      "<table><tr><th scope=\"col\">reached last</th><th scope=\"col\" "
      "class=\"number\">after</th><th scope=\"col\" "
      "class=\"number\">schedules of that shard</th></tr>\n";
  for (const auto& [name, first] : reached) {
    html += fmt::format(
        "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>\n",
        html_text(name), time_text(first.seconds), grouped(first.schedules));
  }
  return html + "</table>\n";
}

std::string never_reached(const std::vector<std::string>& missed) {
  std::string html = "<table><tr><th scope=\"col\">never reached</th></tr>\n";
  for (const std::string& name : missed) {
    html += fmt::format("<tr class=\"never\"><td>{}</td></tr>\n", html_text(name));
  }
  if (missed.empty()) html += "<tr><td>nothing</td></tr>\n";
  return html + "</table>\n";
}

std::string times_text(const ReportPage& page) {
  if (page.files_without_times == 0) return "Time counts from the beginning of each shard.";
  return fmt::format(
      "Time counts from the beginning of each shard. {} of {} files do not have these times, "
      "because an earlier version wrote them.",
      page.files_without_times, page.files);
}

std::string coverage_html(const ReportPage& page) {
  const explorer::CampaignResult& results = page.results;
  const std::vector<std::string> missed = names_missed(results);
  const std::size_t reached = names_reached(results).size();
  const bool has_times = !results.first_reached.empty();
  return fmt::format(
      "<h2>Coverage over time</h2>\n<figure>{}<figcaption>{} of {} probes, faults and conditions "
      "were reached. {}</figcaption></figure>\n<div class=\"columns\"><div>{}</div><div>{}</div>"
      "</div>\n",
      has_times ? draw_coverage_curve(results) : "", reached, reached + missed.size(),
      times_text(page), has_times ? latest_reached(results) : "", never_reached(missed));
}

// The bars are logarithmic, because the rare ones matter.
template <typename Counts>
std::string counts_html(std::string_view title, const Counts& counts) {
  if (counts.empty()) return {};
  double most = 1;
  for (const auto& [name, count] : counts) most = std::max(most, static_cast<double>(count));
  std::string html = fmt::format(
      "<div><table><tr><th scope=\"col\">{}</th><th scope=\"col\" "
      "class=\"number\">times</th><td></td></tr>\n",
      title);
  for (const auto& [name, count] : counts) {
    const double share = std::log1p(static_cast<double>(count)) / std::log1p(most);
    html += fmt::format(
        "<tr{}><td>{}</td><td class=\"number\">{}</td><td aria-hidden=\"true\" "
        "style=\"width:25%\"><div class=\"bar\" "
        "style=\"width:{:.0f}%\"></div></td></tr>\n",
        count == 0 ? " class=\"never\"" : "", html_text(name), grouped(count), 100 * share);
  }
  return html + "</table></div>\n";
}

}  // namespace

std::string verdict_of(const ReportPage& page) {
  if (holds(page)) return "all properties held";
  const auto new_findings = std::ranges::count(page.findings, true, &ReportedFinding::is_new);
  std::string text =
      fmt::format("{}, {} of them new", counted(page.findings.size(), "finding"), new_findings);
  if (page.findings.empty()) text = counted(0, "finding");
  if (page.missed_conditions.empty()) return text;
  return text +
         fmt::format("; {} not reached", counted(page.missed_conditions.size(), "condition"));
}

std::string to_html(const ReportPage& page) {
  const explorer::CampaignResult& results = page.results;
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<main>\n{}{}{}{}"
      "<h2>Counters</h2>\n<div class=\"columns\">{}{}{}{}</div>\n</main>\n</body>\n</html>\n",
      html_text(page.title), style, head(page), figures(page), findings_html(page),
      coverage_html(page), counts_html("conditions", results.conditions),
      counts_html("probes", results.probes), counts_html("faults", results.faults),
      counts_html("probes of the simulator", results.simulator_probes));
}

}  // namespace falafel::command_line
