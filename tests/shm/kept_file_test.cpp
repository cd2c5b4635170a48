// Files that keep memory: which ones are accepted, and who may still be behind a gate.
#include "fabric/realtime/kept_file.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "fabric/realtime/kept_gates.h"
#include "processes/child_process.h"

namespace falafel::fabric {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t block_bytes = 10'000;

class KeptFileTest : public testing::Test {
 protected:
  KeptFileTest() {
    std::string name = (fs::temp_directory_path() / "falafel.XXXXXX").native();
    directory_ = ::mkdtemp(name.data());
    path_ = (directory_ / "memory").native();
  }
  ~KeptFileTest() override { fs::remove_all(directory_); }

  void make_file() const {
    auto made = KeptFile::open(path_, block_bytes);
    ASSERT_TRUE(made.has_value()) << made.error().detail;
    EXPECT_TRUE(made->is_new());
    ASSERT_TRUE(made->complete().has_value());
  }
  std::string content() const {
    std::string bytes(fs::file_size(path_), '\0');
    std::ifstream(path_, std::ios::binary)
        .read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return bytes;
  }
  void replace_content(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    fs::permissions(path_, fs::perms::owner_read | fs::perms::owner_write);
  }
  void expect_refused(ErrorCode code, const std::string& why) const {
    const auto opened = KeptFile::open(path_, block_bytes);
    ASSERT_FALSE(opened.has_value());
    EXPECT_EQ(opened.error().code, code) << opened.error().detail;
    EXPECT_NE(opened.error().detail.find(why), std::string::npos) << opened.error().detail;
    EXPECT_NE(opened.error().detail.find(path_), std::string::npos) << opened.error().detail;
  }

  fs::path directory_;
  std::string path_;
};

TEST_F(KeptFileTest, BelongsToItsUserAlone) {
  const mode_t before = ::umask(0);
  make_file();
  ::umask(before);
  struct stat status {};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
  ASSERT_EQ(::chmod(path_.c_str(), 0644), 0);
  expect_refused(ErrorCode::access_denied, "chmod 600");
}

TEST_F(KeptFileTest, IsNotNewOnceComplete) {
  make_file();
  const auto again = KeptFile::open(path_, block_bytes);
  ASSERT_TRUE(again.has_value()) << again.error().detail;
  EXPECT_FALSE(again->is_new());
}

TEST_F(KeptFileTest, CountsAsNewIfItsMakingWasInterrupted) {
  { EXPECT_TRUE(KeptFile::open(path_, 50 * block_bytes).value().is_new()); }
  std::array<std::byte, 8> first{};
  EXPECT_EQ(examine_kept_file(path_, first).value(), std::nullopt);
  make_file();
}

TEST_F(KeptFileTest, HasOneOwnerAtATime) {
  make_file();
  {
    const auto first = KeptFile::open(path_, block_bytes);
    expect_refused(ErrorCode::address_in_use, "still running");
  }
  EXPECT_TRUE(KeptFile::open(path_, block_bytes).has_value());
}

TEST_F(KeptFileTest, TellsItsSizeAndBeginning) {
  make_file();
  std::string bytes = content();
  bytes.replace(KeptFile::block_offset, 8, "12345678");
  replace_content(bytes);
  std::array<char, 8> first{};
  const auto examined = examine_kept_file(path_, std::as_writable_bytes(std::span(first)));
  ASSERT_TRUE(examined.has_value() && examined->has_value());
  EXPECT_EQ((*examined)->block_bytes, block_bytes);
  EXPECT_EQ(std::string(first.begin(), first.end()), "12345678");
}

TEST_F(KeptFileTest, OfAnotherSizeIsRefusedWithBoth) {
  make_file();
  const auto opened = KeptFile::open(path_, block_bytes + 1);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::invalid_argument);
  EXPECT_NE(opened.error().detail.find("10000 bytes, not of 10001"), std::string::npos)
      << opened.error().detail;
}

TEST_F(KeptFileTest, ThatIsForeignStaysAsItIs) {
  const std::string foreign(KeptFile::block_offset + block_bytes, 'x');
  for (const std::string& bytes : {foreign, std::string("x"), std::string(foreign.size(), '\0')}) {
    replace_content(bytes);
    expect_refused(ErrorCode::invalid_argument, "something else");
    EXPECT_EQ(content(), bytes);
  }
}

TEST_F(KeptFileTest, ThatWasCutOffIsRefused) {
  make_file();
  const std::string whole = content();
  for (const std::size_t length : {whole.size() - 1, whole.size() - 4'096, std::size_t{4'096}}) {
    replace_content(whole.substr(0, length));
    expect_refused(ErrorCode::invalid_argument, "damaged");
    EXPECT_EQ(content().size(), length);
  }
}

TEST_F(KeptFileTest, WithAChangedHeaderIsRefused) {
  make_file();
  constexpr std::size_t header_bytes = 32;
  const std::string header_now = content().substr(0, header_bytes);
  for (std::size_t bit = 0; bit < header_bytes * 8; ++bit) {
    std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
    std::string header = header_now;
    header[bit / 8] = static_cast<char>(header[bit / 8] ^ (1 << bit % 8));
    file << header << std::flush;
    const auto opened = KeptFile::open(path_, block_bytes);
    ASSERT_FALSE(opened.has_value()) << "bit " << bit;
    EXPECT_EQ(opened.error().code, ErrorCode::invalid_argument) << "bit " << bit;
  }
}

TEST_F(KeptFileTest, ThatIsNoFileIsRefused) {
  fs::create_directory(path_);
  expect_refused(ErrorCode::invalid_argument, "not a regular file");
  fs::remove(path_);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  expect_refused(ErrorCode::invalid_argument, "not a regular file");
  fs::remove(path_);
  fs::create_symlink(directory_ / "other", path_);
  expect_refused(ErrorCode::access_denied, "symbolic link");
  EXPECT_FALSE(fs::exists(directory_ / "other"));
  path_ = (directory_ / "nowhere" / "memory").native();
  expect_refused(ErrorCode::invalid_argument, "make the directory");
}

TEST_F(KeptFileTest, WithoutSpaceIsNotLeftBehind) {
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, SIG_IGN);
  const rlimit little{.rlim_cur = KeptFile::block_offset, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &little);
  expect_refused(ErrorCode::out_of_memory, "free space");
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_FALSE(fs::exists(path_));
}

// -------------------------------------------------------------------------------------------------
// Gates

// A file that this process keeps, with its gates.
struct Kept {
  explicit Kept(const std::string& path)
      : file(KeptFile::open(path, block_bytes).value()),
        head(static_cast<std::byte*>(::mmap(nullptr, KeptFile::block_offset, PROT_READ | PROT_WRITE,
                                            MAP_SHARED, file.file().get(), 0))) {
    EXPECT_TRUE(file.complete().has_value());
    EXPECT_TRUE(fence_former_peers(file, [] { ADD_FAILURE() << "waits"; }).has_value());
    gates.emplace(file, head);
  }
  ~Kept() { ::munmap(head, KeptFile::block_offset); }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  Gate& gate(const KeptGates::Given& given) const {
    return *reinterpret_cast<Gate*>(head + given.offset);
  }

  KeptFile file;
  std::byte* head;
  std::optional<KeptGates> gates;
};

using KeptGatesTest = KeptFileTest;

// Its peer would mark another one as not busy.
TEST_F(KeptGatesTest, OfAFormerPeerIsGivenToNobodyElse) {
  KeptGates::Given former{};
  {
    Kept first(path_);
    former = first.gates->give(identity_of(::getppid())).value();
    EXPECT_EQ(first.gate(former).state.load(), GateState::ready);
  }
  Kept second(path_);
  EXPECT_EQ(second.gate(former).state.load(), GateState::closed);
  for (int given = 0; given < 100; ++given) {
    EXPECT_NE(second.gates->give(identity_of(::getpid())).value().offset, former.offset);
  }
}

TEST_F(KeptGatesTest, OfAFormerPeerIsFreeOnceItHasLeftOrEnded) {
  KeptGates::Given left{};
  KeptGates::Given ended{};
  {
    Kept first(path_);
    left = first.gates->give(identity_of(::getppid())).value();
    processes::ChildProcess child([] { return EXIT_SUCCESS; });
    ended = first.gates->give(identity_of(child.id())).value();
    first.gate(ended).peer_is_busy.store(1);
    leave(first.gate(left), left.pass + 2);  // it belonged to somebody else
    EXPECT_EQ(first.gate(left).pass.load(), left.pass);
    leave(first.gate(left), left.pass);
    child.wait();
  }
  Kept second(path_);
  EXPECT_EQ(second.gates->give(identity_of(::getpid())).value().offset, left.offset);
  EXPECT_EQ(second.gates->give(identity_of(::getpid())).value().offset, ended.offset);
  EXPECT_EQ(second.gate(ended).peer_is_busy.load(), 0U);
}

TEST_F(KeptGatesTest, AreManyAndThenRefused) {
  const Kept kept(path_);
  KeptGates gates(kept.file, kept.head);
  std::uint64_t given = 0;
  while (gates.give({}).has_value()) ++given;
  EXPECT_EQ(given, KeptGates::most_gates);
}

}  // namespace
}  // namespace falafel::fabric
