// The results of an acceptance run: parts, each with a row for everything that was tried. A part
// runs in a process of its own, so its report also travels as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace falafel::acceptance {

enum class Verdict : std::uint8_t {
  held,       // the rules demand it, and it was so
  counted,    // the rules allow every result; the report shows which one the device gave
  not_tried,  // the report says why
  not_done,   // it could not be tried to its end; nothing forbidden was seen
  violated,   // something forbidden was seen
};
std::string_view to_string(Verdict verdict);

struct Row {
  std::string name;
  std::string source;    // of the rule: "rule 5", "contract: closing"
  std::string expected;  // what the rules demand or allow
  std::string observed;
  Verdict verdict = Verdict::not_done;
};

struct PartReport {
  std::string title;
  std::string about;  // what the part does, in a sentence
  std::vector<Row> rows{};
  double seconds = 0;

  // The worst verdict of any row; not_done for a part without rows.
  Verdict verdict() const;
};

nlohmann::json to_json(const PartReport& part);
// Throws nlohmann::json::exception if the object is no report.
PartReport part_from_json(const nlohmann::json& object);

}  // namespace falafel::acceptance
