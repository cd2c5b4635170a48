// Memory that is reserved and committed later: what the system gives, takes back and refuses.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "fabric/realtime/available_memory.h"
#include "fabric/realtime/kept_file.h"
#include "fabric/shm/process.h"

namespace falafel::shm_test {
namespace {

namespace fs = std::filesystem;
using fabric::KeptFile;

constexpr std::uint64_t mib = std::uint64_t{1} << 20U;

// The shared memory that this process uses, in bytes.
std::uint64_t shared_bytes() {
  std::ifstream file("/proc/self/status");
  std::string name;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("RssShmem:")) return std::stoull(line.substr(9)) * 1'024;
  }
  return 0;
}

class ReservedMemoryTest : public testing::Test {
 protected:
  ReservedMemoryTest() {
    std::string name = (fs::temp_directory_path() / "falafel.XXXXXX").native();
    directory_ = ::mkdtemp(name.data());
  }
  ~ReservedMemoryTest() override {
    if (!mounted_.empty()) ::umount2(mounted_.c_str(), MNT_DETACH);
    fs::remove_all(directory_);
  }

  // Returns false if this user may not mount file systems.
  bool mount(const std::string& options) {
    if (::mount("tmpfs", directory_.c_str(), "tmpfs", 0, options.c_str()) != 0) return false;
    mounted_ = directory_;
    return true;
  }

  // Mounts a small disk, which is in a file. Returns false if this user or this system cannot.
  bool mount_disk(const fs::path& disk) {
    const fs::path image = directory_ / "image";
    std::ofstream(image).close();
    fs::resize_file(image, 48 * mib);
    fs::create_directory(disk);
    const std::string command = fmt::format(
        "(mkfs.ext4 -q {0} && mount -o loop {0} {1}) 2> /dev/null", image.native(), disk.native());
    if (std::system(command.c_str()) != 0) return false;
    mounted_ = disk;
    return true;
  }

  fs::path directory_;
  fs::path mounted_;  // empty: none
};

TEST_F(ReservedMemoryTest, TakesWhatIsCommittedAndGivesItBack) {
  constexpr std::uint64_t reserved_bytes = std::uint64_t{1} << 40U;
  constexpr std::uint64_t used_bytes = 32 * mib;
  const auto process =
      shm::Process::create({.directory = directory_, .memory_limit_bytes = 2 * reserved_bytes})
          .value();
  const auto host = process->create_host("server").value();
  host->run([&] {
    const auto block = host->reserve_memory(reserved_bytes).value();
    const std::uint64_t before = shared_bytes();
    ASSERT_TRUE(block->commit(reserved_bytes / 2, used_bytes).has_value());
    for (std::uint64_t at = 0; at < used_bytes; at += 4'096) {
      block->store(reserved_bytes / 2 + at, at);
    }
    EXPECT_GE(shared_bytes(), before + used_bytes);
    block->release(reserved_bytes / 2, used_bytes);
    EXPECT_LT(shared_bytes(), before + used_bytes / 2);
  });
}

TEST_F(ReservedMemoryTest, MoreThanTheSystemHasIsRefusedAndChangesNothing) {
  constexpr std::uint64_t reserved_bytes = std::uint64_t{1} << 44U;
  const auto process =
      shm::Process::create({.directory = directory_, .memory_limit_bytes = 2 * reserved_bytes})
          .value();
  const auto host = process->create_host("server").value();
  host->run([&] {
    const auto block = host->reserve_memory(reserved_bytes).value();
    ASSERT_TRUE(block->commit(0, mib).has_value());
    block->store(8, 7);
    const auto refused = block->commit(0, reserved_bytes);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, fabric::ErrorCode::out_of_memory);
    // The last memory of the system is left to others.
    EXPECT_FALSE(block->commit(mib, fabric::available_memory_bytes().value()).has_value());
    EXPECT_EQ(block->load(8), 7U);
    EXPECT_TRUE(block->commit(mib, mib).has_value());
  });
}

// A page of a hole that the file system cannot provide would kill who touches it.
TEST_F(ReservedMemoryTest, AFullFileSystemRefusesInsteadOfKilling) {
  if (!mount("size=24m")) GTEST_SKIP() << "this user may not mount a file system";
  const std::string path = (directory_ / "memory").native();
  constexpr std::uint64_t block_bytes = 256 * mib;
  const auto process = shm::Process::create({.directory = directory_ / "sockets"}).value();
  const auto host = process->create_host("server").value();
  host->run([&] {
    const auto kept = host->keep_reserved_memory(path, block_bytes);
    ASSERT_TRUE(kept.has_value()) << kept.error().detail;
    std::uint64_t committed_bytes = 0;
    for (; committed_bytes < block_bytes; committed_bytes += mib) {
      const auto committed = kept->block->commit(committed_bytes, mib);
      if (!committed) {
        EXPECT_EQ(committed.error().code, fabric::ErrorCode::out_of_memory);
        break;
      }
      for (std::uint64_t at = 0; at < mib; at += 4'096) {
        kept->block->store(committed_bytes + at, at + 1);
      }
    }
    EXPECT_GE(committed_bytes, 20 * mib);
    EXPECT_LT(committed_bytes, 24 * mib);
    EXPECT_EQ(kept->block->load(committed_bytes - 4'096), mib - 4'096 + 1);
  });
}

void fill_up(const fs::path& path) {
  std::ofstream file(path, std::ios::binary);
  const std::vector<char> bytes(mib, 'x');
  while (file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush()) continue;
}

// The disk gets the space back. A processor that reads the hole lives on, also when the disk is
// full by then.
TEST_F(ReservedMemoryTest, AFileOnADiskGivesItsSpaceBack) {
  const fs::path disk = directory_ / "disk";
  if (!mount_disk(disk)) GTEST_SKIP() << "this user may not mount a file system";
  constexpr std::uint64_t block_bytes = 64 * mib;
  constexpr std::uint64_t used_bytes = 16 * mib;
  auto kept =
      KeptFile::open((disk / "memory").native(), block_bytes, KeptFile::Space::reserved).value();
  const std::uint64_t before = fs::space(disk).free;
  ASSERT_TRUE(kept.commit(0, used_bytes).has_value());
  std::byte* const block = kept.map_block().value();
  std::fill_n(block, used_bytes, std::byte{1});
  EXPECT_LT(fs::space(disk).free, before - used_bytes + mib);
  kept.release(mib / 2, used_bytes - mib / 2);
  EXPECT_GT(fs::space(disk).free, before - 2 * mib);
  fill_up(disk / "filling");
  EXPECT_EQ(std::count(block + mib, block + used_bytes, std::byte{0}),
            static_cast<std::ptrdiff_t>(used_bytes - mib));
  EXPECT_EQ(block[0], std::byte{1});
  EXPECT_FALSE(kept.commit(0, used_bytes).has_value());
  fs::remove(disk / "filling");
  EXPECT_TRUE(kept.commit(0, used_bytes).has_value());
  ::munmap(block, block_bytes);
}

// Reading a hole there takes a page, which may be missing.
TEST_F(ReservedMemoryTest, AFileInMemoryKeepsItsSpace) {
  if (!mount("size=24m")) GTEST_SKIP() << "this user may not mount a file system";
  auto kept =
      KeptFile::open((directory_ / "memory").native(), 16 * mib, KeptFile::Space::reserved).value();
  ASSERT_TRUE(kept.commit(0, 8 * mib).has_value());
  const std::uint64_t free_bytes = fs::space(directory_).free;
  kept.release(0, 8 * mib);
  EXPECT_EQ(fs::space(directory_).free, free_bytes);
}

TEST_F(ReservedMemoryTest, AFileWithHolesSaysSo) {
  const std::string path = (directory_ / "memory").native();
  const auto has_holes = [&] {
    const auto content = fabric::examine_kept_file(path, {});
    return content.value().value().has_holes;
  };
  {
    auto kept = KeptFile::open(path, 64 * mib, KeptFile::Space::reserved).value();
    ASSERT_TRUE(kept.complete().has_value());
    ASSERT_TRUE(kept.commit(mib, mib).has_value());
  }
  EXPECT_TRUE(has_holes());
  EXPECT_LT(fs::file_size(path), 80 * mib);
  { EXPECT_TRUE(KeptFile::open(path, 64 * mib).has_value()); }
  EXPECT_FALSE(has_holes());
}

}  // namespace
}  // namespace falafel::shm_test
