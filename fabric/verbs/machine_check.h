// Checks whether a machine is fit for this fabric and says what to change.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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
  std::string remedy;  // empty if there is nothing to change
};

// `memory_bytes`: how much memory a process of this user will register; 0 if unknown.
std::vector<Finding> check_machine(std::uint64_t memory_bytes);

}  // namespace falafel::verbs
