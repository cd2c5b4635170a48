// A store that runs in the processes of its clients, on memory that they share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace falafel::in_process_peers {

// One process's access to the store. Its functions throw std::exception if the store fails.
class Peer {
 public:
  virtual ~Peer() = default;
  // Copies the value of the key. Returns false if the store does not have the key.
  virtual bool get(std::string_view key, std::vector<std::byte>& value) = 0;
  virtual void set(std::string_view key, std::string_view value) = 0;
};

// A store in `directory`, which is on a tmpfs and empty at first, with room for `capacity_bytes`.
struct PeerPlace {
  std::filesystem::path directory;
  std::uint64_t capacity_bytes = 0;
  std::uint64_t keys = 0;  // expected
};

struct PeerKind {
  // Creates the store. Called once, before any process opens it.
  std::function<void(const PeerPlace&)> create;
  std::function<std::unique_ptr<Peer>(const PeerPlace&)> open;
};

// LMDB (Debian's liblmdb): a B+ tree. A GET is a read-only transaction, and a SET a write
// transaction, without synchronization to the disk.
PeerKind lmdb_peer();
// boost::unordered_map in shared memory of Boost.Interprocess (a managed_mapped_file on the tmpfs),
// under one interprocess_mutex.
PeerKind boost_peer();

}  // namespace falafel::in_process_peers
