// A file that holds memory of a host beyond the end of its process (Host::keep_memory). Processes
// map it shared, so what reached the memory stays in the file, however the process ends.
//
//   byte      0  header: magic, version, size of the block
//         4,096  gates of those who have the file mapped (kept_gates.h)
//         8 MiB  the block; zeros follow it up to a whole page
//
// The process that keeps the memory holds a lock (flock) on the file until it has ended. What it
// hands to peers is opened apart, because the lock would last as long as they have it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "fabric/error.h"
#include "fabric/realtime/file_descriptor.h"

namespace falafel::fabric {

// Over shared memory, peers go on reading and changing the block for this long after the end of the
// process, unless another process keeps it meanwhile.
inline constexpr std::uint64_t kept_memory_serves_on_ns = 60'000'000'000;

class KeptFile {
 public:
  static constexpr std::uint64_t gates_offset = 4096;
  static constexpr std::uint64_t block_offset = std::uint64_t{8} << 20U;

  // Opens or makes the file for a block of `size_bytes`, which is not zero. The path must not name
  // a symbolic link, and the file must belong to this user alone. A file that is empty, or whose
  // making was interrupted, counts as new. Any other file that is refused is unchanged. Errors:
  // invalid_argument (not a file of this kind, or of another size), address_in_use (another process
  // keeps it), access_denied, out_of_memory (no space), unsupported (by the file system). With
  // Space::reserved, the file has holes, and nobody may use them before commit().
  enum class Space : std::uint8_t { whole, reserved };
  static Result<KeptFile> open(const std::string& path, std::uint64_t size_bytes,
                               Space space = Space::whole);
  // Makes sure that there is space for these bytes of the block. Errors: out_of_memory.
  Result<void> commit(std::uint64_t offset, std::uint64_t length_bytes) const;
  // Gives the space of whole pages of the block back, and leaves a hole. Does nothing where a
  // reader of the hole could need space: on tmpfs it takes a page, and is killed if there is none.
  void release(std::uint64_t offset, std::uint64_t length_bytes) const;
  // Maps the block. Errors: out_of_memory.
  Result<std::byte*> map_block() const;
  // Returns true if the file is in the memory of the system only (tmpfs).
  bool is_in_memory() const;
  // A new file counts as new until this call.
  Result<void> complete();

  const std::string& path() const { return path_; }
  bool is_new() const { return is_new_; }
  Space space() const { return space_; }
  std::uint64_t block_bytes() const { return block_bytes_; }
  std::uint64_t size_bytes() const;  // of the whole file
  // To map and to hand to peers.
  const FileDescriptor& file() const { return file_; }

 private:
  KeptFile(std::string path, std::uint64_t block_bytes, Space space)
      : path_(std::move(path)), block_bytes_(block_bytes), space_(space) {}

  Result<void> lock(bool& made);
  Result<void> make();
  Result<void> accept();
  bool reads_holes_without_space() const;

  std::string path_;
  std::uint64_t block_bytes_;
  Space space_;
  bool is_new_ = false;
  FileDescriptor lock_;
  FileDescriptor file_;
};

// The content of a file, for those who choose a size by it.
struct KeptFileContent {
  std::uint64_t block_bytes = 0;
  bool has_holes = false;  // KeptFile::Space::reserved
};
// Copies the first bytes of the block. Returns nothing if there is no file yet, or one that counts
// as new. Errors: as KeptFile::open, but address_in_use.
Result<std::optional<KeptFileContent>> examine_kept_file(const std::string& path,
                                                         std::span<std::byte> first_bytes);

}  // namespace falafel::fabric
