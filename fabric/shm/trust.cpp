#include "fabric/shm/trust.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>
#include <vector>

namespace falafel::shm {

using fabric::ErrorCode;
using fabric::make_error;
using fabric::Result;

namespace {

namespace fs = std::filesystem;

using Status = struct stat;

constexpr mode_t writable_for_others = S_IWGRP | S_IWOTH;

// A slash at the end would make the system follow a symbolic link.
fs::path without_slash(const fs::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

std::optional<Status> look_at(const fs::path& path) {
  Status status{};
  if (::lstat(without_slash(path).c_str(), &status) != 0) return std::nullopt;
  return status;
}

bool is_this_user_or_root(uid_t user) { return user == ::geteuid() || user == 0; }

// Returns true if only this user, root and `owner` decide what is where the folder is.
bool is_in_place_of(const fs::path& folder, uid_t owner) {
  std::error_code error;
  const fs::path absolute = fs::absolute(without_slash(folder), error).lexically_normal();
  Status place{};
  if (::stat(absolute.parent_path().c_str(), &place) != 0) return false;
  const bool is_theirs = is_this_user_or_root(place.st_uid) || place.st_uid == owner;
  return is_theirs && (place.st_mode & writable_for_others) == 0;
}

tl::unexpected<fabric::Error> deny(const fs::path& path, std::string_view why) {
  return make_error(ErrorCode::access_denied, fmt::format("'{}' {}", path.native(), why));
}

tl::unexpected<fabric::Error> deny_owner(const fs::path& path, uid_t owner) {
  return deny(path, fmt::format("belongs to user {}, not to this one ({}); choose another "
                                "directory, or let its owner remove it",
                                owner, ::geteuid()));
}

enum class Sticky : bool { refused, accepted };

Result<void> check_kind_and_mode(const fs::path& path, const Status& status, Sticky sticky) {
  if (S_ISLNK(status.st_mode)) {
    return deny(path, "is a symbolic link; name the directory itself");
  }
  if (!S_ISDIR(status.st_mode)) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("'{}' is not a directory; choose another one", path.native()));
  }
  const bool is_protected = sticky == Sticky::accepted && (status.st_mode & S_ISVTX) != 0;
  if ((status.st_mode & writable_for_others) != 0 && !is_protected) {
    return deny(path, fmt::format("lets other users write (mode {:o}); use: chmod go-w '{}'",
                                  status.st_mode & 07777U, path.native()));
  }
  return {};
}

// Makes or accepts a directory for a server.
Result<void> make_one(const fs::path& path, Sticky sticky) {
  std::error_code error;
  if (!look_at(path)) {
    fs::create_directories(path.parent_path(), error);
    if (::mkdir(without_slash(path).c_str(), S_IRWXU) != 0 && errno != EEXIST) {
      return make_error(
          ErrorCode::invalid_argument,
          fmt::format("cannot create the directory '{}': {}; choose another directory",
                      path.native(), std::strerror(errno)));
    }
  }
  const auto status = look_at(path);
  if (!status) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("cannot use the directory '{}': {}; choose another directory",
                                  path.native(), std::strerror(errno)));
  }
  if (auto checked = check_kind_and_mode(path, *status, sticky); !checked) return checked;
  // Root may own the directory, but a caller takes the owner of the folder for the server.
  const bool is_right = sticky == Sticky::accepted ? is_this_user_or_root(status->st_uid)
                                                   : status->st_uid == ::geteuid();
  if (!is_right) return deny_owner(path, status->st_uid);
  return {};
}

// Examines a directory for a client and returns its owner.
Result<std::optional<uid_t>> check_one(const fs::path& path, Sticky sticky) {
  const auto status = look_at(path);
  if (!status) return std::nullopt;
  if (auto checked = check_kind_and_mode(path, *status, sticky); !checked) {
    return tl::unexpected(checked.error());
  }
  if (!is_this_user_or_root(status->st_uid) && !is_in_place_of(path, status->st_uid)) {
    return deny_owner(path, status->st_uid);
  }
  return status->st_uid;
}

std::optional<ucred> credentials_of_peer(int socket) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) {
    return std::nullopt;
  }
  return credentials;
}

std::vector<gid_t> further_groups_of_peer(int socket) {
  socklen_t length = 0;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, nullptr, &length) == 0) return {};
  if (errno != ERANGE) return {};
  std::vector<gid_t> groups(length / sizeof(gid_t));
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &length) != 0) return {};
  return groups;
}

}  // namespace

Result<void> make_folder(const fs::path& folder) {
  if (auto made = make_one(folder.parent_path(), Sticky::accepted); !made) return made;
  return make_one(folder, Sticky::refused);
}

Result<std::optional<uid_t>> owner_of(const fs::path& socket) {
  const fs::path folder = socket.parent_path();
  if (auto directory = check_one(folder.parent_path(), Sticky::accepted); !directory) {
    return directory;
  }
  auto owner = check_one(folder, Sticky::refused);
  if (!owner || !*owner) return owner;
  const auto status = look_at(socket);
  if (!status) return std::nullopt;
  if (S_ISLNK(status->st_mode)) return deny(socket, "is a symbolic link; restart the server");
  if (status->st_uid != **owner) return deny_owner(socket, status->st_uid);
  return owner;
}

Result<void> check_server(int socket, std::optional<uid_t> owner) {
  const auto server = credentials_of_peer(socket);
  if (server && owner && server->uid == *owner) return {};
  return make_error(
      ErrorCode::access_denied,
      server ? fmt::format("user {} serves there, but the folder of the socket belongs to another "
                           "user; let its owner start the server again",
                           server->uid)
             : std::string("the system does not tell which user serves there"));
}

Result<void> check_caller(int socket, const fs::path& folder) {
  const auto caller = credentials_of_peer(socket);
  if (caller && is_this_user_or_root(caller->uid)) return {};
  const auto status = look_at(folder);
  const bool is_open_to_group = status && (status->st_mode & S_IXGRP) != 0;
  if (caller && is_open_to_group) {
    std::vector<gid_t> groups = further_groups_of_peer(socket);
    groups.push_back(caller->gid);
    if (std::ranges::find(groups, status->st_gid) != groups.end()) return {};
  }
  return make_error(ErrorCode::access_denied, std::strerror(EACCES));
}

}  // namespace falafel::shm
