#include "fabric/sim/replay_file/replay_file_frame.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace falafel::sim {

namespace {

constexpr std::string_view format_lines = "{\n  \"format\": \"falafel-replay\",\n  \"version\": ";
constexpr std::string_view supported_version = "1";
constexpr std::string_view end_of_version = ",\n";
constexpr std::string_view checksum_key = "\n  \"checksum\": \"";
constexpr std::string_view end_of_file = "\"\n}\n";
constexpr std::size_t checksum_digits = 16;
constexpr std::size_t longest_version = 9;

std::string checksum_lines(std::string_view contents) {
  return fmt::format("  \"checksum\": \"{:016x}{}", XXH3_64bits(contents.data(), contents.size()),
                     end_of_file);
}

std::string truncated() {
  return "truncated: the text ends before its checksum; copy the file again";
}

std::string altered(std::string_view how) {
  return fmt::format("altered: {}; copy the file again, and do not edit it", how);
}

std::optional<std::string> find_version_fault(std::string_view text) {
  const std::string_view rest = text.substr(format_lines.size());
  const std::string_view version = rest.substr(0, rest.find_first_not_of("0123456789"));
  if (version.size() == rest.size()) return truncated();
  if (version.empty() || version.size() > longest_version) return altered("it has no version");
  if (version == supported_version) return std::nullopt;
  return fmt::format("format version {} is not supported; this program reads version {}", version,
                     supported_version);
}

}  // namespace

std::string replay_file_head() {
  return fmt::format("{}{}{}", format_lines, supported_version, end_of_version);
}

void seal_replay_file(std::string& text) { text += checksum_lines(text); }

std::optional<std::string> find_frame_fault(std::string_view text) {
  if (!text.empty() && text.size() < format_lines.size() && format_lines.starts_with(text)) {
    return truncated();
  }
  if (!text.starts_with(format_lines)) {
    return "not a replay file: it does not begin with the format \"falafel-replay\"";
  }
  if (std::optional<std::string> fault = find_version_fault(text)) return fault;

  const std::size_t key = text.rfind(checksum_key);
  const std::size_t end_length = checksum_key.size() + checksum_digits + end_of_file.size();
  if (key == std::string_view::npos) {
    return text.ends_with(end_of_file) ? altered("it has no checksum") : truncated();
  }
  if (text.size() - key < end_length) return truncated();
  if (text.size() - key > end_length) return altered("the text goes on after its end");
  if (text.substr(key + 1) != checksum_lines(text.substr(0, key + 1))) {
    return altered("the contents do not match the checksum");
  }
  return std::nullopt;
}

}  // namespace falafel::sim
