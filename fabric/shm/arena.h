// The memory that a process shares: one anonymous file, as large as the process may ever need. A
// page takes memory only once it is allocated. Peers receive the file's descriptor and map the
// whole file once.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "fabric/fabric.h"
#include "fabric/realtime/file_descriptor.h"
#include "fabric/shm/layout.h"

namespace falafel::shm {

using fabric::FileDescriptor;

// A file that lies over a range of a process's shared memory and holds what the process keeps
// beyond its end. The range begins at `begin`, which is 0 if there is none.
struct Overlay {
  std::uint64_t begin = 0;
  std::uint64_t range_bytes = 0;  // whole pages of the shared memory
  std::uint64_t file_bytes = 0;
};

// The shared memory of this process or of a peer, mapped into this process.
class MappedArena {
 public:
  // Errors: invalid_argument (the file is too short for an arena, or can shrink), out_of_memory.
  static fabric::Result<std::shared_ptr<MappedArena>> map(const FileDescriptor& file);
  // Maps the file of an overlay. Errors: invalid_argument (it is not within the arena, or the file
  // is too short), out_of_memory.
  fabric::Result<void> lay_over(const Overlay& overlay, const FileDescriptor& file);
  // No key leads there any more.
  void remove_overlay(const Overlay& overlay);
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
  // The same for what a key or a receive request names: if the process keeps memory there, it must
  // be mapped here.
  bool reaches(std::uint64_t offset, std::uint64_t length_bytes) const {
    if (!contains(offset, length_bytes)) return false;
    const std::uint64_t begin = header().kept_begin.load(std::memory_order_acquire);
    const std::uint64_t end = header().kept_end.load(std::memory_order_acquire);
    const bool is_kept = offset < end && begin < offset + length_bytes;
    return !is_kept || overlay_begin_.load(std::memory_order_acquire) == begin;
  }
  ArenaHeader& header() const { return object_at<ArenaHeader>(0); }
  KeyEntry& key_entry(std::uint32_t index) const {
    return object_at<KeyEntry>(key_table_offset + index * sizeof(KeyEntry));
  }

 private:
  std::byte* base_;
  std::uint64_t size_bytes_;
  std::atomic<std::uint64_t> overlay_begin_ = 0;
};

// The shared memory of this process; allocates its pages. Thread-safe.
class Arena {
 public:
  // Errors: out_of_memory.
  static fabric::Result<std::unique_ptr<Arena>> create(std::uint64_t limit_bytes, bool huge_pages,
                                                       const ArenaId& id);

  enum class Pages : std::uint8_t { populated, none };
  // Returns the offset of whole pages, which are zero. Errors: out_of_memory.
  fabric::Result<std::uint64_t> allocate(std::uint64_t size_bytes, Pages pages = Pages::populated);
  void release(std::uint64_t offset, std::uint64_t size_bytes) noexcept;
  // Lays a file over a range that nothing else ever uses, before or after. Errors: out_of_memory,
  // unsupported (there is an overlay already).
  fabric::Result<Overlay> lay_over(const FileDescriptor& file, std::uint64_t file_bytes);
  void remove(const Overlay& overlay) noexcept;
  // Populates the pages of these bytes. Returns false if the system has too little memory left.
  bool populate(std::uint64_t offset, std::uint64_t size_bytes) const;
  // The same for a part of what is allocated. Errors: out_of_memory.
  fabric::Result<void> commit(std::uint64_t offset, std::uint64_t size_bytes) const;
  // Returns the whole pages of these bytes to the system. They stay allocated.
  void give_back_pages(std::uint64_t offset, std::uint64_t size_bytes) const;

  const std::shared_ptr<MappedArena>& mapping() const { return mapping_; }
  const FileDescriptor& file() const { return file_; }

 private:
  Arena(FileDescriptor file, std::shared_ptr<MappedArena> mapping, std::uint64_t page_bytes);
  std::uint64_t whole_pages(std::uint64_t size_bytes) const;
  void punch_hole(std::uint64_t offset, std::uint64_t length_bytes) const;
  using Ranges = std::map<std::uint64_t, std::uint64_t>;  // offset to size
  Ranges::iterator find_free(std::uint64_t size_bytes);
  std::uint64_t take_from(Ranges::iterator free, std::uint64_t size_bytes);
  void add_free(std::uint64_t offset, std::uint64_t size_bytes);

  FileDescriptor file_;
  std::shared_ptr<MappedArena> mapping_;
  std::uint64_t page_bytes_;
  std::mutex mutex_;
  Ranges free_;
};

}  // namespace falafel::shm
