#include "explorer/commands/results_files.h"

#include <fmt/format.h>

namespace falafel::command_line {

tl::expected<ResultsFiles, std::string> add_up(const std::vector<std::string>& paths) {
  ResultsFiles files;
  for (const std::string& path : paths) {
    const auto part = explorer::load_result(path);
    if (!part) return tl::unexpected(part.error());
    if (const auto added = add(files.sum, *part); !added) {
      return tl::unexpected(
          fmt::format("{}: does not add up with the files before it: {}", path, added.error()));
    }
    for (const auto& [property, finding] : part->findings) files.findings.push_back(finding);
    if (part->first_reached.empty() && part->schedules > 0) ++files.without_times;
  }
  return files;
}

}  // namespace falafel::command_line
