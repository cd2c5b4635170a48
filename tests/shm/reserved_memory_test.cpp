// Memory that is reserved and committed later: what the system gives, takes back and refuses.
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "fabric/realtime/available_memory.h"
#include "fabric/realtime/kept_file.h"
#include "fabric/shm/process.h"

namespace falafel::shm_test {
namespace {

namespace fs = std::filesystem;

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
    if (is_mounted_) ::umount(directory_.c_str());
    fs::remove_all(directory_);
  }

  // Returns false if this user may not mount file systems.
  bool mount(const std::string& options) {
    is_mounted_ = ::mount("tmpfs", directory_.c_str(), "tmpfs", 0, options.c_str()) == 0;
    return is_mounted_;
  }

  fs::path directory_;
  bool is_mounted_ = false;
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

TEST_F(ReservedMemoryTest, AFileWithHolesSaysSo) {
  const std::string path = (directory_ / "memory").native();
  const auto has_holes = [&] {
    const auto content = fabric::examine_kept_file(path, {});
    return content.value().value().has_holes;
  };
  using fabric::KeptFile;
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
