// Messages over UNIX-domain sockets (SOCK_SEQPACKET: each arrives whole), with a file descriptor beside.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>

#include "fabric/fabric.h"
#include "fabric/shm/arena.h"

namespace falafel::shm {

// Nothing of it waits: the sockets are non-blocking.
//
// Errors: address_in_use, invalid_argument (a path that is too long or cannot be made).
fabric::Result<FileDescriptor> listen_at(const std::filesystem::path& path);
// Errors: unreachable (nobody is there, or may not be reached), connection_refused.
fabric::Result<FileDescriptor> connect_to(const std::filesystem::path& path);

// A socket that the listening one has for us.
struct Accepted {
  enum class Kind : std::uint8_t { caller, nobody, no_descriptors };
  Kind kind =
      Kind::nobody;  // no_descriptors: somebody is there, but this process has no more descriptors
  FileDescriptor socket;
};
Accepted accept_from(int listener);

bool send_message(int socket, std::span<const std::byte> message,
                  const FileDescriptor* attached = nullptr);

struct ReceivedMessage {
  enum class Kind : std::uint8_t { message, nothing_yet, end };
  Kind kind = Kind::end;
  std::size_t length_bytes = 0;
  FileDescriptor attached;
};
ReceivedMessage receive_message(int socket, std::span<std::byte> buffer);

// A descriptor of the process at the other end (pidfd), readable once it has ended. It is not open if that has
// ended and was waited for, or is out of this one's sight (of another namespace of processes). Errors:
// out_of_memory (of descriptors).
fabric::Result<FileDescriptor> process_of(const FileDescriptor& socket);

}  // namespace falafel::shm
