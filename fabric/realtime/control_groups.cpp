// /proc/self/cgroup names the process's group in each hierarchy, and /proc/self/mountinfo the
// folder where a hierarchy is mounted. In a container, that folder often begins at the container's
// group, so the groups around it cannot be seen.
//
// This runs at each allocation of registered memory, so it needs little memory itself: each file is
// read into one text, and everything else refers to it.
#include "fabric/realtime/control_groups.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include "fabric/realtime/file_descriptor.h"

namespace falafel::fabric {
namespace {

struct Version {
  std::string_view limit_file;
  std::string_view usage_file;
  std::string_view prefix_of_sums;  // of the lines of memory.stat that include inner groups
};

constexpr Version version_1{"/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_"};
constexpr Version version_2{"/memory.max", "/memory.current", ""};
// Version 1 writes a number near 2^63 if there is no limit, version 2 a word.
constexpr std::uint64_t no_limit_bytes = std::uint64_t{1} << 62U;

// Empty if there is no such file.
std::string read_file(const std::string& path) {
  std::string text;
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4'096> part{};
  for (;;) {
    const ssize_t length = ::read(file.get(), part.data(), part.size());
    if (length <= 0) return text;
    text.append(part.data(), static_cast<std::size_t>(length));
  }
}

// Removes the part before the next separator, and the separator, from the text.
std::string_view cut(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

std::optional<std::uint64_t> to_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

bool has_memory(std::string_view controllers) {
  while (!controllers.empty()) {
    if (cut(controllers, ',') == "memory") return true;
  }
  return false;
}

// The process's groups, from the root of each hierarchy; empty: it is in none.
struct Groups {
  std::string_view of_version_1{};
  std::string_view of_version_2{};
};

// A line is "number:controllers:path". Version 2 has no controllers there.
Groups find_groups(std::string_view text) {
  Groups groups;
  while (!text.empty()) {
    std::string_view line = cut(text, '\n');
    cut(line, ':');
    const std::string_view controllers = cut(line, ':');
    if (controllers.empty()) groups.of_version_2 = line;
    if (has_memory(controllers)) groups.of_version_1 = line;
  }
  return groups;
}

struct Hierarchy {
  const Version* version = nullptr;  // null: the line is not about a hierarchy with memory
  std::string_view group{};
  std::string_view mount_root{};
  std::string_view mount_point{};
};

// A line is "id parent device root point options ... - type source options".
Hierarchy hierarchy_of(std::string_view line, const Groups& groups) {
  for (int word = 0; word < 3; ++word) cut(line, ' ');
  Hierarchy found{.mount_root = cut(line, ' '), .mount_point = cut(line, ' ')};
  while (!line.empty() && cut(line, ' ') != "-") continue;
  const std::string_view type = cut(line, ' ');
  cut(line, ' ');
  if (type == "cgroup2") {
    found.version = &version_2;
    found.group = groups.of_version_2;
  } else if (type == "cgroup" && has_memory(line)) {
    found.version = &version_1;
    found.group = groups.of_version_1;
  }
  if (found.group.empty()) found.version = nullptr;
  return found;
}

std::uint64_t count_file_cache(const std::string& folder, const Version& version) {
  const std::string text = read_file(folder + "/memory.stat");
  std::uint64_t sum_bytes = 0;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view line = cut(rest, '\n');
    std::string_view name = cut(line, ' ');
    if (!name.starts_with(version.prefix_of_sums)) continue;
    name.remove_prefix(version.prefix_of_sums.size());
    const bool is_cache = name == "active_file" || name == "inactive_file";
    if (is_cache) sum_bytes += to_number(line).value_or(0);
  }
  return sum_bytes;
}

std::optional<std::uint64_t> memory_left_by(const std::string& folder, const Version& version) {
  const auto number_in = [&](std::string_view file) {
    return to_number(read_file(std::string(folder).append(file)));
  };
  const auto limit_bytes = number_in(version.limit_file);
  if (!limit_bytes || *limit_bytes >= no_limit_bytes) return std::nullopt;
  const auto usage_bytes = number_in(version.usage_file);
  if (!usage_bytes) return std::nullopt;
  const std::uint64_t cache_bytes = count_file_cache(folder, version);
  const std::uint64_t kept_bytes = *usage_bytes - std::min(*usage_bytes, cache_bytes);
  return *limit_bytes - std::min(*limit_bytes, kept_bytes);
}

// The way from the group at which the mount begins to that of the process.
std::string_view groups_inside(const Hierarchy& hierarchy) {
  std::string_view inner = hierarchy.group;
  const std::string_view outer = hierarchy.mount_root == "/" ? "" : hierarchy.mount_root;
  if (!inner.starts_with(outer)) return {};
  inner.remove_prefix(outer.size());
  if (!inner.starts_with('/')) return {};
  inner.remove_prefix(1);
  return inner;
}

// The least that any group from the mount to the process's leaves.
std::optional<std::uint64_t> memory_left_in(const Hierarchy& hierarchy, std::string folder) {
  std::optional<std::uint64_t> least_bytes = memory_left_by(folder, *hierarchy.version);
  for (std::string_view inner = groups_inside(hierarchy); !inner.empty();) {
    folder.append("/").append(cut(inner, '/'));
    const auto left_bytes = memory_left_by(folder, *hierarchy.version);
    if (left_bytes) least_bytes = std::min(least_bytes.value_or(*left_bytes), *left_bytes);
  }
  return least_bytes;
}

}  // namespace

std::optional<std::uint64_t> memory_left_by_control_groups(const std::filesystem::path& root) {
  const std::string prefix = root == "/" ? std::string() : root.string();
  const std::string mounts = read_file(prefix + "/proc/self/mountinfo");
  const std::string own = read_file(prefix + "/proc/self/cgroup");
  const Groups groups = find_groups(own);
  std::optional<std::uint64_t> least_bytes;
  for (std::string_view lines = mounts; !lines.empty();) {
    const Hierarchy hierarchy = hierarchy_of(cut(lines, '\n'), groups);
    if (hierarchy.version == nullptr) continue;
    const auto left_bytes =
        memory_left_in(hierarchy, std::string(prefix).append(hierarchy.mount_point));
    if (left_bytes) least_bytes = std::min(least_bytes.value_or(*left_bytes), *left_bytes);
  }
  return least_bytes;
}

}  // namespace falafel::fabric
