// The memory that the system can still provide, from files as the system writes them.
#include "fabric/realtime/available_memory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace falafel::fabric {
namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30U;
constexpr std::string_view mount_of_version_2 =
    "23 1 0:22 / /proc rw,relatime shared:13 - proc proc rw\n"
    "31 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

class AvailableMemory : public ::testing::Test {
 protected:
  AvailableMemory() {
    root = std::filesystem::path(::testing::TempDir()) /
           fmt::format("available-memory-{}", ::getpid());
    std::filesystem::remove_all(root);
    write("proc/meminfo", "MemTotal: 16777216 kB\nMemFree: 1 kB\nMemAvailable: 8388608 kB\n");
  }
  ~AvailableMemory() override { std::filesystem::remove_all(root); }

  void write(const std::filesystem::path& path, std::string_view text) {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }

  void write_group(const std::string& group, std::string_view limit, std::uint64_t usage_bytes) {
    write("sys/fs/cgroup" + group + "/memory.max", limit);
    write("sys/fs/cgroup" + group + "/memory.current", std::to_string(usage_bytes) + "\n");
  }

  std::uint64_t available_bytes() { return available_memory_bytes(root).value(); }

  std::filesystem::path root;
};

TEST_F(AvailableMemory, WithoutControlGroupsIsThatOfTheMachine) {
  EXPECT_EQ(available_bytes(), 8 * gib);
  std::filesystem::remove_all(root);
  EXPECT_FALSE(available_memory_bytes(root).has_value());
}

TEST_F(AvailableMemory, IsWithinTheLimitOfTheGroup) {
  write("proc/self/cgroup", "0::/store\n");
  write("proc/self/mountinfo", mount_of_version_2);
  write_group("/store", std::to_string(4 * gib), gib);
  EXPECT_EQ(available_bytes(), 3 * gib);
  write_group("/store", std::to_string(4 * gib), 5 * gib);
  EXPECT_EQ(available_bytes(), 0U) << "the limit has been lowered below the usage";
  write_group("/store", std::to_string(40 * gib), gib);
  EXPECT_EQ(available_bytes(), 8 * gib) << "the machine has less than the group may use";
  write_group("/store", "max\n", gib);
  EXPECT_EQ(available_bytes(), 8 * gib);
}

TEST_F(AvailableMemory, IsWithinTheLimitsOfTheGroupsAround) {
  write("proc/self/cgroup", "0::/outer/middle/store\n");
  write("proc/self/mountinfo", mount_of_version_2);
  write_group("/outer/middle/store", "max\n", gib);
  write_group("/outer/middle", std::to_string(7 * gib), gib);
  write_group("/outer", std::to_string(6 * gib), 4 * gib);
  EXPECT_EQ(available_bytes(), 2 * gib);
  write_group("/outer", "max\n", 4 * gib);
  EXPECT_EQ(available_bytes(), 6 * gib);
}

TEST_F(AvailableMemory, CountsFilesThatTheSystemOnlyCaches) {
  write("proc/self/cgroup", "0::/store\n");
  write("proc/self/mountinfo", mount_of_version_2);
  write_group("/store", std::to_string(4 * gib), 3 * gib);
  write("sys/fs/cgroup/store/memory.stat",
        "anon 536870912\nfile 2684354560\nshmem 536870912\ninactive_anon 1073741824\n"
        "inactive_file 1073741824\nactive_file 1073741824\n");
  EXPECT_EQ(available_bytes(), 3 * gib);
}

// The container has a namespace of groups of its own, so its group is the root that it sees.
TEST_F(AvailableMemory, OfAContainerIsThatOfTheGroupItSees) {
  write("proc/self/cgroup", "0::/\n");
  write("proc/self/mountinfo", mount_of_version_2);
  write_group("", std::to_string(2 * gib), gib);
  EXPECT_EQ(available_bytes(), gib);
  write("proc/self/cgroup", "0::/../beside\n");
  EXPECT_EQ(available_bytes(), gib);
}

// Only the container's group is mounted, and the process's is named from the machine's root.
TEST_F(AvailableMemory, IsWithinTheLimitOfAGroupOfVersion1) {
  write("proc/self/cgroup",
        "5:cpu,cpuacct:/docker/abc\n4:hugetlb,memory:/docker/abc/inner\n0::/docker/abc\n");
  write("proc/self/mountinfo",
        "32 31 0:29 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n"
        "35 31 0:32 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,hugetlb,memory\n");
  const std::filesystem::path group = "sys/fs/cgroup/memory";
  write(group / "memory.limit_in_bytes", std::to_string(2 * gib));
  write(group / "memory.usage_in_bytes", std::to_string(3 * gib / 2));
  write(group / "memory.stat", "inactive_file 1\ntotal_inactive_file 536870912\n");
  write(group / "inner/memory.limit_in_bytes", "9223372036854771712\n");
  write(group / "inner/memory.usage_in_bytes", "1073741824\n");
  EXPECT_EQ(available_bytes(), gib);
  write(group / "inner/memory.limit_in_bytes", std::to_string(gib + 4096));
  EXPECT_EQ(available_bytes(), 4096U);
}

}  // namespace
}  // namespace falafel::fabric
