// The findings of earlier reports, in a file, so that a nightly report can say which are new.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace falafel::command_line {

class KnownFindings {
 public:
  // Empty if there is no such file. An error names the file.
  static tl::expected<KnownFindings, std::string> load(const std::string& path);

  bool has(std::string_view property, std::string_view fingerprint) const;
  // Keeps the seed that was added first.
  void add(std::string_view property, std::string_view fingerprint, std::uint64_t seed);
  // Replaces the file at once.
  tl::expected<void, std::string> save(const std::string& path) const;

 private:
  std::map<std::pair<std::string, std::string>, std::uint64_t> seeds_;  // by property, fingerprint
};

}  // namespace falafel::command_line
