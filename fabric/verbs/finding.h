// The result of a check of the machine.
#pragma once

#include <cstdint>
#include <string>

namespace falafel::verbs {

enum class Grade : std::uint8_t {
  good,
  advice,   // works, but not as well as it could
  problem,  // does not work
};

struct Finding {
  Grade grade = Grade::good;
  std::string subject;  // "device mlx5_0 port 1"
  std::string fact;
  std::string remedy{};  // empty if there is nothing to change
};

}  // namespace falafel::verbs
