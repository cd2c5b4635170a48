// The memory that this process keeps beyond its end: a range of its shared memory over which a file
// lies (fabric/realtime/kept_file.h). The gates of those who may reach it are in the same file.
#pragma once

#include <memory>

#include "fabric/realtime/kept_file.h"
#include "fabric/realtime/kept_gates.h"
#include "fabric/shm/arena.h"

namespace falafel::shm {

// The memory block and all gates of the range share it. The file is free for others once the last
// of them is gone.
class KeptRange {
 public:
  // Errors: as Arena::lay_over.
  static fabric::Result<std::shared_ptr<KeptRange>> create(
      Arena& arena, const std::shared_ptr<fabric::KeptFile>& file);
  KeptRange(Arena& arena, std::shared_ptr<fabric::KeptFile> file, const Overlay& overlay);
  ~KeptRange();
  KeptRange(const KeptRange&) = delete;
  KeptRange& operator=(const KeptRange&) = delete;

  const Overlay& overlay() const { return overlay_; }
  const FileDescriptor& file() const { return file_->file(); }
  fabric::KeptGates& gates() { return gates_; }
  // The offset of the block in the shared memory.
  std::uint64_t block() const { return overlay_.begin + fabric::KeptFile::block_offset; }
  // Commits bytes of the block. Errors: out_of_memory.
  fabric::Result<void> commit(std::uint64_t offset, std::uint64_t length_bytes) const {
    return file_->commit(offset, length_bytes);
  }
  // As KeptFile::release.
  void release(std::uint64_t offset, std::uint64_t length_bytes) const {
    file_->release(offset, length_bytes);
  }
  // Nobody can wait for the peers that may still use it, so it stays mapped.
  void abandon() { is_abandoned_ = true; }

 private:
  Arena& arena_;
  std::shared_ptr<fabric::KeptFile> file_;
  Overlay overlay_;
  fabric::KeptGates gates_;
  bool is_abandoned_ = false;
};

// The gate of a connection in the file.
class GateInFile {
 public:
  // Errors: out_of_memory.
  static fabric::Result<std::unique_ptr<GateInFile>> take(std::shared_ptr<KeptRange> range,
                                                          const fabric::ProcessIdentity& peer);
  GateInFile(std::shared_ptr<KeptRange> range, const fabric::KeptGates::Given& given)
      : range_(std::move(range)), given_(given) {}
  ~GateInFile() { range_->gates().take_back(given_.offset); }
  GateInFile(const GateInFile&) = delete;
  GateInFile& operator=(const GateInFile&) = delete;

  const KeptRange& range() const { return *range_; }
  std::uint64_t offset() const { return range_->overlay().begin + given_.offset; }
  std::uint64_t pass() const { return given_.pass; }

 private:
  std::shared_ptr<KeptRange> range_;
  fabric::KeptGates::Given given_;
};

}  // namespace falafel::shm
