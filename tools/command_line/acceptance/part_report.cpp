#include "tools/command_line/acceptance/part_report.h"

#include <algorithm>

namespace falafel::acceptance {

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::held: return "held";
    case Verdict::counted: return "counted";
    case Verdict::not_tried: return "not tried";
    case Verdict::not_done: return "NOT DONE";
    case Verdict::violated: break;
  }
  return "VIOLATED";
}

Verdict PartReport::verdict() const {
  if (rows.empty()) return Verdict::not_done;
  Verdict worst = Verdict::held;
  for (const Row& row : rows) {
    // A part that counts and leaves out is in order.
    if (row.verdict >= Verdict::not_done) worst = std::max(worst, row.verdict);
  }
  const bool nothing_tried =
      std::ranges::all_of(rows, [](const Row& row) { return row.verdict == Verdict::not_tried; });
  return nothing_tried ? Verdict::not_tried : worst;
}

nlohmann::json to_json(const PartReport& part) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Row& row : part.rows) {
    rows.push_back({{"name", row.name},
                    {"source", row.source},
                    {"expected", row.expected},
                    {"observed", row.observed},
                    {"verdict", static_cast<int>(row.verdict)}});
  }
  return {{"title", part.title},
          {"about", part.about},
          {"seconds", part.seconds},
          {"rows", std::move(rows)}};
}

PartReport part_from_json(const nlohmann::json& object) {
  PartReport part{.title = object.at("title"), .about = object.at("about")};
  part.seconds = object.at("seconds");
  for (const nlohmann::json& row : object.at("rows")) {
    part.rows.push_back({.name = row.at("name"),
                         .source = row.at("source"),
                         .expected = row.at("expected"),
                         .observed = row.at("observed"),
                         .verdict = static_cast<Verdict>(row.at("verdict").get<int>())});
  }
  return part;
}

}  // namespace falafel::acceptance
