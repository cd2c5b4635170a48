// Messages over UNIX-domain sockets (SOCK_SEQPACKET, so each message arrives whole). A message can
// carry a file descriptor.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>

#include "fabric/fabric.h"
#include "fabric/shm/arena.h"

namespace falafel::shm {

// No call here waits: the sockets do not block.
//
// Errors: address_in_use, invalid_argument (the path is too long or cannot be created).
fabric::Result<FileDescriptor> listen_at(const std::filesystem::path& path);
// Errors: unreachable (no socket, or no permission), connection_refused, access_denied (it is not
// the socket of a user whom this process trusts; fabric/shm/trust.h).
fabric::Result<FileDescriptor> connect_to(const std::filesystem::path& path);

// The result of accepting a caller.
struct Accepted {
  // no_descriptors: there is a caller, but this process has no descriptors left.
  enum class Kind : std::uint8_t { caller, nobody, no_descriptors };
  Kind kind = Kind::nobody;
  FileDescriptor socket;
  int error = 0;  // no_descriptors: the system's error
};
Accepted accept_from(int listener);

bool send_message(int socket, std::span<const std::byte> message,
                  const FileDescriptor* attached = nullptr);

struct ReceivedMessage {
  // A message of no bytes counts as the end, because the two cannot be told apart.
  enum class Kind : std::uint8_t { message, nothing_yet, end };
  Kind kind = Kind::end;
  std::size_t length_bytes = 0;
  FileDescriptor attached;
  // A descriptor was attached, but this process has none left to receive it.
  bool lost_attachment = false;
};
ReceivedMessage receive_message(int socket, std::span<std::byte> buffer);

// Returns a descriptor (pidfd) of the process at the other end, which is readable once that process
// has ended. It is not open if the process has been waited for, or is in another namespace of
// processes. Errors: out_of_memory (no descriptors left).
fabric::Result<FileDescriptor> process_of(const FileDescriptor& socket);

}  // namespace falafel::shm
