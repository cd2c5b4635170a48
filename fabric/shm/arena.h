// The memory that a process shares: one anonymous file, as large as the process may ever need. A
// page takes memory only once it is allocated. Peers receive the file's descriptor and map the
// whole file once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "fabric/fabric.h"
#include "fabric/shm/layout.h"

namespace falafel::shm {

// An open file. The destructor closes it.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) : descriptor_(descriptor) {}
  ~FileDescriptor() { reset(); }
  FileDescriptor(FileDescriptor&& other) noexcept : descriptor_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  int get() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }
  int release();
  void reset();

 private:
  int descriptor_ = -1;
};

// The shared memory of this process or of a peer, mapped into this process.
class MappedArena {
 public:
  // Errors: invalid_argument (the file is too short for an arena, or can shrink), out_of_memory.
  static fabric::Result<std::shared_ptr<MappedArena>> map(const FileDescriptor& file);
  MappedArena(std::byte* base, std::uint64_t size_bytes) : base_(base), size_bytes_(size_bytes) {}
  ~MappedArena();
  MappedArena(const MappedArena&) = delete;
  MappedArena& operator=(const MappedArena&) = delete;

  std::byte* at(std::uint64_t offset) const { return base_ + offset; }
  template <typename Object>
  Object& object_at(std::uint64_t offset) const {
    return *reinterpret_cast<Object*>(base_ + offset);
  }
  std::uint64_t size_bytes() const { return size_bytes_; }
  bool contains(std::uint64_t offset, std::uint64_t length_bytes) const {
    return length_bytes <= size_bytes_ && offset <= size_bytes_ - length_bytes;
  }
  ArenaHeader& header() const { return object_at<ArenaHeader>(0); }
  KeyEntry& key_entry(std::uint32_t index) const {
    return object_at<KeyEntry>(key_table_offset + index * sizeof(KeyEntry));
  }

 private:
  std::byte* base_;
  std::uint64_t size_bytes_;
};

// The shared memory of this process; allocates its pages. Thread-safe.
class Arena {
 public:
  // Errors: out_of_memory.
  static fabric::Result<std::unique_ptr<Arena>> create(std::uint64_t limit_bytes, bool huge_pages,
                                                       const ArenaId& id);

  // Returns the offset of whole pages, which are zero and populated. Errors: out_of_memory.
  fabric::Result<std::uint64_t> allocate(std::uint64_t size_bytes);
  void release(std::uint64_t offset, std::uint64_t size_bytes) noexcept;
  // Populates the pages of these bytes. Returns false if the system has too little memory left.
  bool populate(std::uint64_t offset, std::uint64_t size_bytes) const;

  const std::shared_ptr<MappedArena>& mapping() const { return mapping_; }
  const FileDescriptor& file() const { return file_; }

 private:
  Arena(FileDescriptor file, std::shared_ptr<MappedArena> mapping, std::uint64_t page_bytes);
  std::uint64_t whole_pages(std::uint64_t size_bytes) const;
  void add_free(std::uint64_t offset, std::uint64_t size_bytes);

  FileDescriptor file_;
  std::shared_ptr<MappedArena> mapping_;
  std::uint64_t page_bytes_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> free_;  // offset to size
};

}  // namespace falafel::shm
