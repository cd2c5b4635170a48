// Messages between processes, and the descriptors attached to them, which hostile peers choose.
#include "fabric/shm/socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>

#include "fabric/shm/handshake.h"

namespace falafel::shm {
namespace {

struct Ends {
  FileDescriptor first;
  FileDescriptor second;
};

Ends make_sockets() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()),
            0);
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

// Reads from the first, writes to the second.
Ends make_pipe() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

bool has_writers(const FileDescriptor& pipe) {
  std::byte ignored{};
  return ::read(pipe.get(), &ignored, 1) < 0 && errno == EAGAIN;
}

// Sends a message of `length_bytes` with the descriptor attached `count` times, as no peer of this
// fabric does.
void send_with(int socket, const FileDescriptor& attached, std::size_t count,
               std::size_t length_bytes) {
  std::array<std::byte, 8> message{};
  iovec data{message.data(), length_bytes};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(16 * sizeof(int))> control{};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = CMSG_SPACE(count * sizeof(int));
  cmsghdr* const rights = CMSG_FIRSTHDR(&header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(count * sizeof(int));
  const int descriptor = attached.get();
  for (std::size_t index = 0; index < count; ++index) {
    std::memcpy(CMSG_DATA(rights) + index * sizeof(int), &descriptor, sizeof descriptor);
  }
  ASSERT_EQ(::sendmsg(socket, &header, MSG_NOSIGNAL), static_cast<ssize_t>(length_bytes));
}

TEST(ShmSocket, KeepsOneOfTheDescriptorsOfAMessage) {
  for (const std::size_t count : {1U, 2U, 3U, 16U}) {
    const Ends sockets = make_sockets();
    Ends pipe = make_pipe();
    send_with(sockets.first.get(), pipe.second, count, 1);
    pipe.second = FileDescriptor();
    std::array<std::byte, 8> buffer{};
    {
      const ReceivedMessage received = receive_message(sockets.second.get(), buffer);
      EXPECT_EQ(received.kind, ReceivedMessage::Kind::message);
      EXPECT_EQ(received.length_bytes, 1U);
      EXPECT_TRUE(received.attached.is_open());
      EXPECT_FALSE(received.lost_attachment);
      EXPECT_TRUE(has_writers(pipe.first));
    }
    EXPECT_FALSE(has_writers(pipe.first)) << count << " descriptors: one is still open";
  }
}

TEST(ShmSocket, ClosesTheDescriptorsOfAMessageOfNoBytes) {
  for (const std::size_t count : {1U, 2U, 16U}) {
    const Ends sockets = make_sockets();
    Ends pipe = make_pipe();
    send_with(sockets.first.get(), pipe.second, count, 0);
    pipe.second = FileDescriptor();
    std::array<std::byte, 8> buffer{};
    EXPECT_EQ(receive_message(sockets.second.get(), buffer).kind, ReceivedMessage::Kind::end);
    EXPECT_FALSE(has_writers(pipe.first)) << count << " descriptors: one is still open";
  }
}

TEST(ShmSocket, ClosesTheDescriptorOfAMessageThatIsTooLong) {
  const Ends sockets = make_sockets();
  Ends pipe = make_pipe();
  send_with(sockets.first.get(), pipe.second, 1, 8);
  pipe.second = FileDescriptor();
  std::array<std::byte, 1> buffer{};
  { const ReceivedMessage received = receive_message(sockets.second.get(), buffer); }
  EXPECT_FALSE(has_writers(pipe.first));
}

TEST(ShmSocket, MessagesWithoutDescriptorsHaveNone) {
  const Ends sockets = make_sockets();
  const std::array<std::byte, 1> message{};
  EXPECT_TRUE(send_message(sockets.first.get(), message));
  std::array<std::byte, 8> buffer{};
  const ReceivedMessage received = receive_message(sockets.second.get(), buffer);
  EXPECT_EQ(received.kind, ReceivedMessage::Kind::message);
  EXPECT_FALSE(received.attached.is_open());
  EXPECT_FALSE(received.lost_attachment);
  EXPECT_EQ(receive_message(sockets.second.get(), buffer).kind, ReceivedMessage::Kind::nothing_yet);
}

// Each version so far has had another length.
TEST(ShmHandshake, OfAnotherVersionIsKnownByItsBeginning) {
  HandshakeMessage message{.version = layout_version + 1, .endpoint = 8, .accepted = 0};
  const auto bytes = std::as_bytes(std::span(&message, 1));
  for (const std::size_t length : {std::size_t{8}, std::size_t{40}, bytes.size()}) {
    const auto parsed = parse_handshake(bytes.first(length));
    ASSERT_TRUE(parsed.has_value()) << length;
    EXPECT_EQ(parsed->version, layout_version + 1);
    EXPECT_EQ(parsed->endpoint, 0U) << "it may be elsewhere in that version";
    EXPECT_EQ(parsed->accepted, 1U);
  }
  EXPECT_FALSE(parse_handshake(bytes.first(7)).has_value());
  message.version = layout_version;
  EXPECT_TRUE(parse_handshake(bytes).has_value());
  EXPECT_FALSE(parse_handshake(bytes.first(40)).has_value());
  message.magic ^= 1U;
  EXPECT_FALSE(parse_handshake(bytes).has_value());
}

}  // namespace
}  // namespace falafel::shm
