// Directories, sockets and peers of other users, which a process must not trust.
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "fabric/shm/connector.h"
#include "fabric/shm/process.h"
#include "fabric/shm/socket.h"
#include "fabric/time_units.h"
#include "processes/child_process.h"

namespace falafel::shm_test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using fabric::ErrorCode;
using processes::ChildProcess;

constexpr std::uint16_t service = 7;
using fabric::second_ns;
constexpr ::uid_t another_user = 65'534;

void become(::uid_t user, ::gid_t group, const std::vector<::gid_t>& further_groups) {
  if (::setgroups(further_groups.size(), further_groups.data()) != 0 || ::setgid(group) != 0 ||
      ::setuid(user) != 0) {
    std::abort();
  }
}

// A step that the processes of a test have reached.
class Step {
 public:
  Step()
      : memory_(::mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {}
  ~Step() { ::munmap(memory_, sizeof(std::atomic<int>)); }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  void reach(int step) { number().store(step); }
  void await(int step) {
    while (number() < step) std::this_thread::sleep_for(1ms);
  }

 private:
  std::atomic<int>& number() { return *static_cast<std::atomic<int>*>(memory_); }

  void* memory_;
};

// A host with a queue pair's needs.
struct Party {
  Party(const fs::path& directory, const std::string& name) {
    process = shm::Process::create({.directory = directory, .memory_limit_bytes = 1 << 20}).value();
    host = process->create_host(name).value();
  }

  // The error of connecting to the server, if any.
  std::optional<fabric::Error> connect() {
    std::optional<fabric::Error> error;
    host->run([&] {
      fabric::Device& device = host->device(0);
      const auto domain = device.create_protection_domain();
      const auto completions = device.create_completion_queue(128).value();
      const auto connection = device.connect({.host = "server", .service = service},
                                             {.protection_domain = domain.get(),
                                              .send_completions = completions.get(),
                                              .receive_completions = completions.get()},
                                             {}, host->now_ns() + 20 * second_ns);
      if (!connection) error = connection.error();
    });
    return error;
  }

  // The error of listening, if any. Otherwise calls `meanwhile`, then accepts callers, one by one,
  // until the directory has a file `end`.
  std::optional<fabric::Error> listen_until_end(const fs::path& directory,
                                                const std::function<void()>& meanwhile) {
    std::optional<fabric::Error> error;
    host->run([&] {
      fabric::Device& device = host->device(0);
      const auto listener = device.listen(service);
      if (!listener) {
        error = listener.error();
        return;
      }
      meanwhile();
      while (!fs::exists(directory / "end")) {
        const auto request = (*listener)->accept(host->now_ns() + second_ns / 100);
        if (request == nullptr) continue;
        const auto domain = device.create_protection_domain();
        const auto completions = device.create_completion_queue(128).value();
        const auto accepted = request->accept({.protection_domain = domain.get(),
                                               .send_completions = completions.get(),
                                               .receive_completions = completions.get()},
                                              {});
        ++accepted_count;
      }
    });
    return error;
  }

  std::unique_ptr<shm::Process> process;
  std::unique_ptr<fabric::RealTimeHost> host;
  int accepted_count = 0;
};

std::optional<fabric::Error> listen_in(const fs::path& directory) {
  Party party(directory, "server");
  std::optional<fabric::Error> error;
  party.host->run([&] {
    const auto listener = party.host->device(0).listen(service);
    if (!listener) error = listener.error();
  });
  return error;
}

std::optional<fabric::Error> connect_in(const fs::path& directory) {
  return Party(directory, "client").connect();
}

void expect_denied(const std::optional<fabric::Error>& error, std::string_view why) {
  ASSERT_TRUE(error.has_value()) << "nothing is refused";
  EXPECT_EQ(error->code, ErrorCode::access_denied) << error->detail;
  EXPECT_NE(error->detail.find(why), std::string::npos) << error->detail;
}

class ForeignUserTest : public testing::Test {
 protected:
  ForeignUserTest() {
    std::string name = (fs::temp_directory_path() / "falafel.XXXXXX").native();
    place_ = ::mkdtemp(name.data());
    directory_ = place_ / "falafel";
  }
  ~ForeignUserTest() override { fs::remove_all(place_); }

  fs::path place_;
  fs::path directory_;
};

// Only root can become another user.
class ForeignUserAsRootTest : public ForeignUserTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs to become another user";
    ASSERT_EQ(::chmod(place_.c_str(), 01777), 0);  // like /tmp
  }
  // Ends listen_until_end().
  void end() const { ::close(::creat((directory_ / "end").c_str(), 0600)); }
};

TEST_F(ForeignUserTest, ASymbolicLinkIsNoDirectoryOfSockets) {
  ASSERT_TRUE(fs::create_directory(place_ / "elsewhere"));
  ASSERT_EQ(::chmod((place_ / "elsewhere").c_str(), 0700), 0);
  fs::create_directory_symlink(place_ / "elsewhere", directory_);
  expect_denied(listen_in(directory_), "symbolic link");
  expect_denied(connect_in(directory_), "symbolic link");
  expect_denied(connect_in(directory_ / ""), "symbolic link");
}

TEST_F(ForeignUserTest, ASymbolicLinkIsNoFolderOfAHost) {
  ASSERT_TRUE(fs::create_directories(directory_ / "elsewhere"));
  fs::permissions(directory_, fs::perms::owner_all);
  fs::permissions(directory_ / "elsewhere", fs::perms::owner_all);
  fs::create_directory_symlink(directory_ / "elsewhere", directory_ / "server");
  expect_denied(listen_in(directory_), "symbolic link");
  expect_denied(connect_in(directory_), "symbolic link");
}

TEST_F(ForeignUserTest, ASymbolicLinkIsNoSocket) {
  Party server(directory_, "elsewhere");
  server.host->run([&] {
    const auto listener = server.host->device(0).listen(service).value();
    fs::create_directory(directory_ / "server");
    fs::permissions(directory_ / "server", fs::perms::owner_all);
    fs::create_symlink(directory_ / "elsewhere" / "7", directory_ / "server" / "7");
    std::jthread([&] { expect_denied(connect_in(directory_), "symbolic link"); }).join();
  });
}

TEST_F(ForeignUserTest, ADirectoryThatOthersMayWriteToIsRefused) {
  for (const ::mode_t mode : {0777U, 0770U, 0707U}) {
    for (const fs::path& writable : {directory_, directory_ / "server"}) {
      fs::remove_all(directory_);
      ASSERT_TRUE(fs::create_directories(directory_ / "server"));
      ASSERT_EQ(::chmod(directory_.c_str(), 0700), 0);
      ASSERT_EQ(::chmod((directory_ / "server").c_str(), 0700), 0);
      ASSERT_EQ(::chmod(writable.c_str(), mode), 0);
      expect_denied(listen_in(directory_), "lets other users write");
      expect_denied(connect_in(directory_), "lets other users write");
    }
  }
}

// Others cannot replace its folders.
TEST_F(ForeignUserTest, ADirectoryLikeTmpIsAccepted) {
  ASSERT_TRUE(fs::create_directory(directory_));
  ASSERT_EQ(::chmod(directory_.c_str(), 01777), 0);
  EXPECT_FALSE(listen_in(directory_).has_value());
}

TEST_F(ForeignUserAsRootTest, WhoServesInAPublicPlaceIsNotCalled) {
  Step step;
  ChildProcess stranger([&] {
    become(another_user, another_user, {});
    Party party(directory_, "server");
    const auto error = party.listen_until_end(directory_, [&] { step.reach(1); });
    return error || party.accepted_count > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
  });
  step.await(1);
  expect_denied(connect_in(directory_), "belongs to user 65534");
  end();
  EXPECT_TRUE(stranger.wait().is_success()) << "it received the memory of a client";
}

TEST_F(ForeignUserAsRootTest, NobodyServesInADirectoryOfAnotherUser) {
  ASSERT_TRUE(fs::create_directory(directory_));
  ASSERT_EQ(::chmod(directory_.c_str(), 0755), 0);
  ASSERT_EQ(::chown(directory_.c_str(), another_user, another_user), 0);
  expect_denied(listen_in(directory_), "belongs to user 65534");
  ASSERT_EQ(::chown(directory_.c_str(), 0, 0), 0);
  ASSERT_TRUE(fs::create_directory(directory_ / "server"));
  ASSERT_EQ(::chown((directory_ / "server").c_str(), another_user, another_user), 0);
  expect_denied(listen_in(directory_), "belongs to user 65534");
}

// As if it had listened there before its folder got this owner and mode.
TEST_F(ForeignUserAsRootTest, AServerOfAnotherUserThanItsFolderIsNotCalled) {
  const fs::path socket = shm::socket_path(directory_, "server", service);
  ASSERT_TRUE(fs::create_directories(socket.parent_path()));
  ASSERT_EQ(::chmod(socket.parent_path().c_str(), 0777), 0);
  Step step;
  ChildProcess stranger([&] {
    become(another_user, another_user, {});
    const auto listener = shm::listen_at(socket);
    if (!listener) return EXIT_FAILURE;
    step.reach(1);
    step.await(2);
    const auto caller = shm::accept_from(listener->get());
    std::array<std::byte, 256> buffer{};
    const auto heard = shm::receive_message(caller.socket.get(), buffer);
    return heard.kind == shm::ReceivedMessage::Kind::message ? EXIT_FAILURE : EXIT_SUCCESS;
  });
  step.await(1);
  ASSERT_EQ(::chmod(socket.parent_path().c_str(), 0700), 0);
  expect_denied(connect_in(directory_), "belongs to user 65534");
  ASSERT_EQ(::chown(socket.c_str(), 0, 0), 0);
  expect_denied(connect_in(directory_), "user 65534 serves");
  step.reach(2);
  EXPECT_TRUE(stranger.wait().is_success()) << "it received the memory of a client";
}

// The folder has this group and mode, and the socket lets everybody connect.
struct Caller {
  ::mode_t mode;
  ::gid_t group;
  std::vector<::gid_t> further_groups;
  bool is_accepted;
};

TEST_F(ForeignUserAsRootTest, CallersAreThisUserAndTheGroupOfTheFolder) {
  constexpr ::gid_t group = 4'321;
  for (const Caller& caller : std::vector<Caller>{{0755, another_user, {}, false},
                                                  {0755, group, {}, true},
                                                  {0750, another_user, {1, 2, group}, true},
                                                  {0705, another_user, {}, false}}) {
    fs::remove_all(directory_);
    Step step;
    ChildProcess stranger([&] {
      become(another_user, caller.group, caller.further_groups);
      step.await(1);
      const auto error = connect_in(directory_);
      ::close(::creat((place_ / "end").c_str(), 0600));
      if (!caller.is_accepted) {
        return error && error->detail.find("Permission denied") != std::string::npos ? 0 : 1;
      }
      return error ? 1 : 0;
    });
    Party party(directory_, "server");
    const auto open_door = [&] {
      const fs::path socket = shm::socket_path(directory_, "server", service);
      ASSERT_EQ(::chmod(directory_.c_str(), 0755), 0);
      ASSERT_EQ(::chown(socket.parent_path().c_str(), 0, group), 0);
      ASSERT_EQ(::chmod(socket.parent_path().c_str(), caller.mode), 0);
      ASSERT_EQ(::chmod(socket.c_str(), 0777), 0);
      step.reach(1);
    };
    EXPECT_FALSE(party.listen_until_end(place_, open_door).has_value());
    EXPECT_TRUE(stranger.wait().is_success())
        << "mode " << caller.mode << ", group " << caller.group;
    EXPECT_EQ(party.accepted_count, caller.is_accepted ? 1 : 0);
    fs::remove(place_ / "end");
  }
}

}  // namespace
}  // namespace falafel::shm_test
