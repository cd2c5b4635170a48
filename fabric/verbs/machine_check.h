// Whether a machine is fit for this fabric, and what to change. For people who set one up.
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

// `memory_bytes`: how much a process of this user is going to register; 0 asks for no certain amount.
std::vector<Finding> check_machine(std::uint64_t memory_bytes);

}  // namespace falafel::verbs
