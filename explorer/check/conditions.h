// Conditions that a campaign must reach at least once, counted over all its processes. The memory
// is shared with processes that are forked later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace falafel::check {

// The condition of each history: without an answer in any run, there was nothing to judge. Its name
// is that of the property with this suffix.
inline constexpr std::string_view judged_suffix = " judges an answer";

class Conditions {
 public:
  static constexpr std::size_t most = 64;
  static constexpr std::size_t longest_name_bytes = 103;

  Conditions();
  ~Conditions();
  Conditions(const Conditions&) = delete;
  Conditions& operator=(const Conditions&) = delete;

  // Returns the index of the condition of this name. Throws a std::invalid_argument that names the
  // limit if there are too many or the name is too long.
  std::size_t declare(std::string_view name);
  void reached(std::size_t index);
  // The number of runs that reached each condition.
  std::map<std::string, std::uint64_t> counts() const;

 private:
  struct Entry;
  Entry* entries_;
};

}  // namespace falafel::check
