#include "tools/command_line/acceptance/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "checkers/html_text.h"

namespace falafel::acceptance {
namespace {

using checkers::html_text;

constexpr std::array all_verdicts{Verdict::violated, Verdict::not_done, Verdict::held,
                                  Verdict::counted, Verdict::not_tried};

constexpr std::string_view style = R"(
body { font: 15px/1.45 system-ui, sans-serif; color: #222; margin: 2em auto; max-width: 75em;
       padding: 0 1.5em; }
h1 { font-size: 1.6em; margin-bottom: 0.2em; }
h2 { font-size: 1.2em; margin: 2em 0 0.3em; }
p { margin: 0.3em 0 0.8em; }
table { border-collapse: collapse; width: 100%; table-layout: fixed; }
th { text-align: left; font-weight: 600; border-bottom: 2px solid #888; padding: 0.3em 0.6em; }
td { border-bottom: 1px solid #ddd; padding: 0.3em 0.6em; vertical-align: top;
     overflow-wrap: anywhere; white-space: pre-line; }
.rows th:nth-child(1) { width: 22%; } .rows th:nth-child(2) { width: 16%; }
.rows th:nth-child(3) { width: 21%; } .rows th:nth-child(5) { width: 6.5em; }
.parts th:nth-child(1) { width: 16em; } .parts th:nth-child(3) { width: 6em; }
.parts th:nth-child(4) { width: 6.5em; }
.facts td:first-child { width: 16em; }
.facts { margin-bottom: 1em; }
.verdict { display: inline-block; border-radius: 0.3em; padding: 0 0.5em; font-size: 0.87em;
           font-weight: 600; white-space: nowrap; }
.held { background: #d9f0dc; color: #14532d; } .counted { background: #e4ebf5; color: #1e3a5f; }
.not-tried { background: #eee; color: #555; } .not-done { background: #fdebc8; color: #7a4a00; }
.violated { background: #f9d0d0; color: #8b0000; }
.summary { font-size: 1.1em; padding: 0.7em 1em; border-radius: 0.4em; margin: 1em 0; }
.note { background: #fdebc8; color: #5f3a00; padding: 0.6em 1em; border-radius: 0.4em; }
@media print { body { margin: 0; max-width: none; font-size: 11px; } tr { break-inside: avoid; } }
)";

std::string class_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::held: return "held";
    case Verdict::counted: return "counted";
    case Verdict::not_tried: return "not-tried";
    case Verdict::not_done: return "not-done";
    case Verdict::violated: break;
  }
  return "violated";
}

std::string badge(Verdict verdict) {
  return fmt::format("<span class=\"verdict {}\">{}</span>", class_of(verdict), to_string(verdict));
}

std::ptrdiff_t count_of_verdict(const PartReport& part, Verdict verdict) {
  return std::ranges::count(part.rows, verdict, &Row::verdict);
}

std::string counts_of(const PartReport& part) {
  std::string text;
  for (const Verdict verdict : all_verdicts) {
    const auto count = count_of_verdict(part, verdict);
    if (count > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, to_string(verdict));
  }
  return text.empty() ? "nothing" : text;
}

std::string facts_table(const Facts& facts) {
  std::string text = "<table class=\"facts\">\n";
  for (const auto& [name, value] : facts)
    text += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", html_text(name), html_text(value));
  return text + "</table>\n";
}

// Lines of a name and a value.
Facts facts_in(const std::string& lines) {
  Facts facts;
  std::istringstream input(lines);
  for (std::string line; std::getline(input, line);) {
    const std::size_t colon = std::min(line.find(": "), line.size());
    facts.emplace_back(line.substr(0, colon), line.substr(std::min(colon + 2, line.size())));
  }
  return facts;
}

std::string overview(const AcceptanceReport& report) {
  std::string text =
      "<h2>Parts</h2>\n<table class=\"parts\">\n"
      "<tr><th>Part</th><th>Results</th><th>Time</th><th>Verdict</th></tr>\n";
  for (std::size_t number = 0; number < report.parts.size(); ++number) {
    const PartReport& part = report.parts[number];
    text += fmt::format(
        "<tr><td><a href=\"#part{}\">{}</a></td><td>{}</td><td>{:.0f} s</td><td>{}</td></tr>\n",
        number, html_text(part.title), counts_of(part), part.seconds, badge(part.verdict()));
  }
  return text + "</table>\n";
}

std::string part_table(const PartReport& part, std::size_t number) {
  std::string text = fmt::format("<h2 id=\"part{}\">{}</h2>\n<p>{}</p>\n", number,
                                 html_text(part.title), html_text(part.about));
  text +=
      "<table class=\"rows\">\n<tr><th>What was tried</th><th>Source</th><th>Expected</th>"
      "<th>Observed</th><th>Verdict</th></tr>\n";
  for (const Row& row : part.rows) {
    text += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                        html_text(row.name), html_text(row.source), html_text(row.expected),
                        html_text(row.observed), badge(row.verdict));
  }
  return text + "</table>\n";
}

std::string not_tried_list(const AcceptanceReport& report) {
  std::string items;
  for (const PartReport& part : report.parts) {
    for (const Row& row : part.rows) {
      if (row.verdict != Verdict::not_tried) continue;
      items += fmt::format("<li>{}: {} ({})</li>\n", html_text(part.title), html_text(row.name),
                           html_text(row.observed));
    }
  }
  items +=
      "<li>Performance of the store under load (falafel bench does that)</li>\n"
      "<li>Unreliable datagrams; shared receive queues; message streams; two devices in one "
      "machine; several clients' machines; the power failure of a machine</li>\n";
  return "<h2>Not tried</h2>\n<ul>\n" + items + "</ul>\n";
}

}  // namespace

Verdict AcceptanceReport::verdict() const {
  Verdict worst = parts.empty() ? Verdict::not_done : Verdict::held;
  for (const PartReport& part : parts) {
    if (part.verdict() >= Verdict::not_done) worst = std::max(worst, part.verdict());
  }
  return worst;
}

std::string summary_of(const AcceptanceReport& report) {
  std::ptrdiff_t violated = 0;
  std::ptrdiff_t not_done = 0;
  std::ptrdiff_t rows = 0;
  for (const PartReport& part : report.parts) {
    violated += count_of_verdict(part, Verdict::violated);
    not_done += count_of_verdict(part, Verdict::not_done);
    rows += static_cast<std::ptrdiff_t>(part.rows.size());
  }
  std::string text = violated == 0 ? fmt::format("Nothing forbidden was seen in {} rows.", rows)
                                   : fmt::format("{} of {} rows are VIOLATED.", violated, rows);
  if (not_done > 0) text += fmt::format(" {} could not be done.", not_done);
  return text;
}

std::string to_page(const AcceptanceReport& report) {
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<title>Falafel acceptance</title>\n<style>";
  page += style;
  page += "</style>\n</head>\n<body>\n<h1>Falafel acceptance</h1>\n";
  page += fmt::format("<p>{}, fabric {}, {:.0f} s</p>\n", html_text(report.begun),
                      html_text(report.fabric), report.seconds);
  page += fmt::format("<div class=\"summary {}\">{}</div>\n", class_of(report.verdict()),
                      html_text(summary_of(report)));
  if (!report.is_on_hardware) {
    page +=
        "<div class=\"note\">Not tried on hardware: no RDMA card took part. The results are about "
        "software that stands in for one.</div>\n";
  }
  page += overview(report);
  for (std::size_t number = 0; number < report.parts.size(); ++number)
    page += part_table(report.parts[number], number);
  page += not_tried_list(report);
  page += "<h2>Machines and versions</h2>\n";
  Facts versions{{"command", report.command},
                 {"version here", report.own_version},
                 {"version of the side that serves", report.other_version}};
  page += facts_table(versions);
  page += "<h3>This machine</h3>\n" + facts_table(report.own_machine);
  page +=
      "<h3>Device of this machine, as the fabric sees it</h3>\n" + facts_table(report.own_device);
  page +=
      "<h3>Machine of the side that serves</h3>\n" + facts_table(facts_in(report.other_machine));
  return page + "</body>\n</html>\n";
}

}  // namespace falafel::acceptance
