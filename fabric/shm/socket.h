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

// A socket that the listening one has for us; empty if there is none.
std::optional<FileDescriptor> accept_from(const FileDescriptor& listener);

bool send_message(const FileDescriptor& socket, std::span<const std::byte> message,
                  const FileDescriptor* attached = nullptr);

struct ReceivedMessage {
  enum class Kind : std::uint8_t { message, nothing_yet, end };
  Kind kind = Kind::end;
  std::size_t length_bytes = 0;
  FileDescriptor attached;
};
ReceivedMessage receive_message(const FileDescriptor& socket, std::span<std::byte> buffer);

// A descriptor of the process at the other end (pidfd), readable once it has ended; not open if the system
// cannot tell.
FileDescriptor process_of(const FileDescriptor& socket);

}  // namespace falafel::shm
