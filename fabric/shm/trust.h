// Decides whose sockets a process uses. Peers map each other's whole memory, so a process connects
// only to the user who owns the folder of the socket, and accepts only its own user, root, and the
// group that the folder is open to.
//
// A folder of sockets must be a directory, not a symbolic link, that only its owner may write to.
// Its owner must be this user or root, or the place where the folder is must be one where nobody
// else creates anything: in /tmp, anybody could have made the folder first.
//
// The system checks the folder's permissions too. The checks here do not depend on what happened to
// the folder before or meanwhile: the system remembers the user at each end of a connection.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>

#include "fabric/error.h"

namespace falafel::shm {

// Makes `<directory>/<host>` for a server of this user, with access for this user only, or accepts
// the existing one. The directory, but not the folder, may be one that everybody may write to if
// only the owner of a folder can rename it (the sticky bit). Errors: access_denied,
// invalid_argument (it cannot be made).
fabric::Result<void> make_folder(const std::filesystem::path& folder);

// Returns the user who owns the folder of this socket and so has to be the one who serves there.
// Empty if the system does not let this process look at it; it then does not let it connect either.
// Errors: access_denied, invalid_argument (no directory).
fabric::Result<std::optional<uid_t>> owner_of(const std::filesystem::path& socket);

// Checks that the socket is connected to a process of that user. Errors: access_denied.
fabric::Result<void> check_server(int socket, std::optional<uid_t> owner);
// Checks that the caller at the other end of the socket may connect to the server of this folder.
// Errors: access_denied, with a short text for the caller.
fabric::Result<void> check_caller(int socket, const std::filesystem::path& folder);

}  // namespace falafel::shm
