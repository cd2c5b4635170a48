#include "tools/benchmarks/compare_stores/report.h"

#include <fmt/format.h>

#include "tools/benchmarks/compare_stores/gnuplot.h"

namespace falafel::compare_stores {
namespace {

using nlohmann::json;

std::string name_of(const ComparedStore& store) {
  return fmt::format("{}, {}", store.name, store.protocol);
}

// "8.1 us", or in how many of the moments the operation never ended.
std::string death_text(std::uint32_t blocked, std::uint32_t moments, double longest_us) {
  if (blocked == moments) return "never ends";
  std::string longest = fmt::format("{:.1f} us", longest_us);
  if (blocked == 0) return longest;
  return fmt::format("{}; never ends after {} of {}", longest, blocked, moments);
}

// Empty if the servers share processors with the clients.
std::string server_text(const ReportRow& row) {
  if (row.store.has_workers_at_clients) return "";
  return fmt::format("{:.0f}", row.measured->server_ns);
}

std::string link(const Finding& finding) {
  return fmt::format("[{}]({})", finding.verdict, finding.evidence);
}

json to_json(const Measurement& cost) {
  return {{"operations_per_second", cost.operations_per_second},
          {"median_us", cost.median_us},
          {"tail_us", cost.tail_us},
          {"round_trips", cost.round_trips},
          {"verbs", cost.verbs},
          {"bytes", cost.bytes},
          {"server_processor_ns", cost.server_ns},
          {"memory_bytes_per_key", cost.memory_bytes_per_key},
          {"busiest_part", cost.busiest_part},
          {"busiest_share", cost.busiest_share}};
}

json to_json(const ClientDeath& death) {
  return {{"moments", death.moments},
          {"key_unreadable", death.key_unreadable},
          {"key_unwritable", death.key_unwritable},
          {"other_keys_lost", death.other_keys_lost},
          {"longest_get_us", death.longest_get_us},
          {"longest_set_us", death.longest_set_us}};
}

json to_json(const Finding& finding) {
  return {{"verdict", finding.verdict}, {"evidence", finding.evidence}};
}

template <typename Result>
json result_or_error(const Result& result) {
  return result ? to_json(*result) : json{{"error", result.error()}};
}

json costs_to_json(const ReportRow& row) {
  json costs = result_or_error(row.measured);
  if (row.measured && row.store.has_workers_at_clients) costs["server_processor_ns"] = nullptr;
  return costs;
}

// One row of bars for each store that could be measured.
std::string drawing_data(const std::vector<ReportRow>& rows) {
  std::string data;
  for (const ReportRow& row : rows) {
    if (!row.measured) continue;
    data += fmt::format("\"{}, {}\" {:.4f} {:.2f} {:.2f}\n", row.store.name, row.store.protocol,
                        row.measured->operations_per_second / 1e6, row.measured->median_us,
                        row.measured->tail_us);
  }
  return data;
}

std::string drawing_script(const std::vector<ReportRow>& rows, const std::string& title,
                           const std::string& path) {
  return fmt::format(
      "set terminal svg size 860,520 font 'DejaVu Sans,12' background '#ffffff'\n"
      "set output {0}\nset title {1} noenhanced\n"
      "set style data histograms\nset style histogram clustered gap 1\n"
      "set style fill solid border -1\nset boxwidth 0.9\n"
      "set grid y linecolor '#dddddd'\nset border 11\nset xtics nomirror rotate by 40 right scale "
      "0\n"
      "set ytics nomirror\nset y2tics\nset yrange [0:*]\nset y2range [0:*]\n"
      "set ylabel 'million operations per second'\nset y2label 'microseconds'\n"
      "set key outside top center horizontal\n$data << END\n{2}END\n"
      "plot $data using 2:xtic(1) title 'throughput' linecolor '#0072b2', "
      "$data using 3 axes x1y2 title 'median latency' linecolor '#e69f00', "
      "$data using 4 axes x1y2 title '99 % latency' linecolor '#d55e00'\n",
      gnuplot::quoted(path), gnuplot::quoted(title), drawing_data(rows));
}

}  // namespace

std::string costs_text(const std::vector<ReportRow>& rows) {
  std::string text =
      "| Store | Mops/s | Median, us | 99 %, us | Round trips | Verbs | Bytes | Server's "
      "processor, ns | Memory per key, bytes | Busiest part |\n"
      "| --- | --: | --: | --: | --: | --: | --: | --: | --: | --- |\n";
  for (const ReportRow& row : rows) {
    if (!row.measured) {
      text +=
          fmt::format("| {} | | | | | | | | | {} |\n", name_of(row.store), row.measured.error());
      continue;
    }
    const Measurement& cost = *row.measured;
    text += fmt::format(
        "| {} | {:.2f} | {:.1f} | {:.1f} | {:.2f} | {:.2f} | {:.0f} | {} | {:.0f} | {}, {:.0f} % "
        "|\n",
        name_of(row.store), cost.operations_per_second / 1e6, cost.median_us, cost.tail_us,
        cost.round_trips, cost.verbs, cost.bytes, server_text(row), cost.memory_bytes_per_key,
        cost.busiest_part, cost.busiest_share * 100);
  }
  return text;
}

std::string client_deaths_text(const std::vector<ReportRow>& rows) {
  std::string text =
      "| Store | GET of the key | SET of the key | Other keys lost |\n"
      "| --- | --- | --- | --: |\n";
  for (const ReportRow& row : rows) {
    if (!row.death) {
      text += fmt::format("| {} | {} | | |\n", name_of(row.store), row.death.error());
      continue;
    }
    const ClientDeath& death = *row.death;
    text += fmt::format("| {} | {} | {} | {:.0f} % |\n", name_of(row.store),
                        death_text(death.key_unreadable, death.moments, death.longest_get_us),
                        death_text(death.key_unwritable, death.moments, death.longest_set_us),
                        death.other_keys_lost * 100);
  }
  return text;
}

std::string findings_text(const std::vector<ReportRow>& rows) {
  std::string text = "| Store | Linearizable | Lock-free | Bounded |\n| --- | --- | --- | --- |\n";
  for (const ReportRow& row : rows) {
    const Findings& findings = row.store.findings;
    text += fmt::format("| {} | {} | {} | {} |\n", name_of(row.store), link(findings.linearizable),
                        link(findings.lock_free), link(findings.bounded));
  }
  return text;
}

json to_json(const std::vector<ReportRow>& rows) {
  json all = json::array();
  for (const ReportRow& row : rows) {
    const Findings& findings = row.store.findings;
    all.push_back({{"store", row.store.name},
                   {"protocol", row.store.protocol},
                   {"costs", costs_to_json(row)},
                   {"client_death", result_or_error(row.death)},
                   {"linearizable", to_json(findings.linearizable)},
                   {"lock_free", to_json(findings.lock_free)},
                   {"bounded", to_json(findings.bounded)}});
  }
  return all;
}

std::optional<std::string> draw(const std::vector<ReportRow>& rows, const std::string& title,
                                const std::string& path) {
  return gnuplot::run(drawing_script(rows, title, path));
}

}  // namespace falafel::compare_stores
