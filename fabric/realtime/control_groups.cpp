// /proc/self/cgroup names the process's group in each hierarchy, and /proc/self/mountinfo the
// folder where a hierarchy is mounted. In a container, that folder often begins at the container's
// group, so the groups around it cannot be seen.
#include "fabric/realtime/control_groups.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace falafel::fabric {
namespace {

struct Version {
  std::string_view limit_file;
  std::string_view usage_file;
  std::string_view prefix_of_sums;  // of the lines of memory.stat that include inner groups
};

constexpr Version version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_"};
constexpr Version version_2{"memory.max", "memory.current", ""};
// Version 1 writes a number near 2^63 if there is no limit, version 2 a word.
constexpr std::uint64_t no_limit_bytes = std::uint64_t{1} << 62U;

struct Hierarchy {
  const Version* version;
  std::filesystem::path group;  // the process's, from the hierarchy's root
  std::filesystem::path mount_root;
  std::filesystem::path mount_point;
};

bool has_memory(std::string_view controllers) {
  std::istringstream list{std::string(controllers)};
  for (std::string name; std::getline(list, name, ',');) {
    if (name == "memory") return true;
  }
  return false;
}

struct Groups {
  std::optional<std::filesystem::path> of_version_1;
  std::optional<std::filesystem::path> of_version_2;
};

// A line is "number:controllers:path". Version 2 has no controllers there.
Groups find_groups(const std::filesystem::path& root) {
  Groups groups;
  std::ifstream file(root / "proc/self/cgroup");
  std::string number;
  std::string controllers;
  std::string path;
  while (std::getline(file, number, ':') && std::getline(file, controllers, ':') &&
         std::getline(file, path)) {
    if (controllers.empty()) groups.of_version_2 = path;
    if (has_memory(controllers)) groups.of_version_1 = path;
  }
  return groups;
}

// A line is "id parent device root point options ... - type source options".
std::vector<Hierarchy> find_hierarchies(const std::filesystem::path& root) {
  const Groups groups = find_groups(root);
  std::vector<Hierarchy> found;
  std::ifstream file(root / "proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    std::string mount_root;
    std::string mount_point;
    std::string type;
    std::string options;
    words >> word >> word >> word >> mount_root >> mount_point;
    while (words >> word && word != "-") continue;
    words >> type >> word >> options;
    if (type == "cgroup2" && groups.of_version_2) {
      found.push_back({&version_2, *groups.of_version_2, mount_root, mount_point});
    }
    if (type == "cgroup" && has_memory(options) && groups.of_version_1) {
      found.push_back({&version_1, *groups.of_version_1, mount_root, mount_point});
    }
  }
  return found;
}

std::optional<std::uint64_t> read_number(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

std::uint64_t count_file_cache(const std::filesystem::path& folder, const Version& version) {
  const std::string prefix(version.prefix_of_sums);
  std::uint64_t sum_bytes = 0;
  std::ifstream file(folder / "memory.stat");
  std::string name;
  for (std::uint64_t bytes = 0; file >> name >> bytes;) {
    if (name == prefix + "active_file" || name == prefix + "inactive_file") sum_bytes += bytes;
  }
  return sum_bytes;
}

std::optional<std::uint64_t> memory_left_by(const std::filesystem::path& folder,
                                            const Version& version) {
  const auto limit_bytes = read_number(folder / version.limit_file);
  if (!limit_bytes || *limit_bytes >= no_limit_bytes) return std::nullopt;
  const auto usage_bytes = read_number(folder / version.usage_file);
  if (!usage_bytes) return std::nullopt;
  const std::uint64_t cache_bytes = count_file_cache(folder, version);
  const std::uint64_t kept_bytes = *usage_bytes - std::min(*usage_bytes, cache_bytes);
  return *limit_bytes - std::min(*limit_bytes, kept_bytes);
}

// The mount point, and the folders from there to the group.
std::vector<std::filesystem::path> folders_of(const Hierarchy& hierarchy,
                                              const std::filesystem::path& root) {
  std::filesystem::path folder = root / hierarchy.mount_point.relative_path();
  std::vector<std::filesystem::path> folders{folder};
  const auto inner = hierarchy.group.lexically_relative(hierarchy.mount_root);
  for (const std::filesystem::path& name : inner) {
    if (name == ".") continue;
    folder /= name;
    folders.push_back(folder);
  }
  return folders;
}

}  // namespace

std::optional<std::uint64_t> memory_left_by_control_groups(const std::filesystem::path& root) {
  std::optional<std::uint64_t> least_bytes;
  for (const Hierarchy& hierarchy : find_hierarchies(root)) {
    for (const std::filesystem::path& folder : folders_of(hierarchy, root)) {
      const auto left_bytes = memory_left_by(folder, *hierarchy.version);
      if (left_bytes) least_bytes = std::min(least_bytes.value_or(*left_bytes), *left_bytes);
    }
  }
  return least_bytes;
}

}  // namespace falafel::fabric
