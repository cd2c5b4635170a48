// The part of a timeline that a program adds: data of its own, and the script with which the
// page shows them. A program without one gets the words of memory that its runs access.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace falafel::timeline {

class Texts;

class ProgramPart {
 public:
  virtual ~ProgramPart() = default;

  // An object whose members become members of the timeline's JSON form.
  virtual nlohmann::ordered_json to_json(Texts& texts) const = 0;
  // JavaScript that replaces members of `program` (page/program.js).
  virtual std::string_view page_script() const = 0;

 protected:
  ProgramPart() = default;
  ProgramPart(const ProgramPart&) = default;
  ProgramPart& operator=(const ProgramPart&) = default;
};

}  // namespace falafel::timeline
