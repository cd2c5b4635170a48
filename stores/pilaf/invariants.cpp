#include "stores/pilaf/invariants.h"

#include <fmt/format.h>

#include <cstring>
#include <set>
#include <span>
#include <utility>

#include "stores/pilaf/hashing.h"

namespace falafel::pilaf {
namespace {

class Audit {
 public:
  explicit Audit(const ServerInspection& server) : server_(server), unused_(server.allocated) {}

  std::vector<std::string> run() {
    for (std::uint64_t slot = 0; slot < server_.geometry.table_entries; ++slot) check_slot(slot);
    for (const auto& [offset, bytes] : unused_) {
      report(fmt::format("no entry uses the allocated block of {} bytes at {}", bytes, offset));
    }
    check_sum();
    return std::move(problems_);
  }

 private:
  void report(std::string problem) { problems_.push_back(std::move(problem)); }

  void check_slot(std::uint64_t slot) {
    Entry entry;
    std::memcpy(&entry, server_.memory.data() + Geometry::entry_offset(slot), sizeof entry);
    if (!entry.verifies()) return report(fmt::format("entry {} does not verify", slot));
    if (!entry.is_in_use()) return;
    const ExtentPointer pointer = entry.pointer();
    const auto block = unused_.find(pointer.offset);
    if (block == unused_.end() || block->second < pointer.bytes) {
      return report(
          fmt::format("entry {} points to {} bytes at {}, which are not a block of its "
                      "own",
                      slot, pointer.bytes, pointer.offset));
    }
    unused_.erase(block);
    check_extent(slot, pointer);
  }

  void check_extent(std::uint64_t slot, const ExtentPointer& pointer) {
    const auto extent =
        std::span(server_.memory).subspan(server_.geometry.extent_offset(pointer), pointer.bytes);
    const auto view = parse_extent(extent);
    if (!view || server_.checksum.of(extent) != pointer.crc) {
      return report(fmt::format("the extent of entry {} does not verify", slot));
    }
    const ProbeSequence slots = slots_of(view->key, server_.geometry.hash_seed, server_.ways,
                                         server_.geometry.table_entries);
    if (!slots.contains(slot)) report(fmt::format("the key of entry {} has other slots", slot));
    if (!keys_.insert({view->key.begin(), view->key.end()}).second) {
      report(fmt::format("the key of entry {} is in the table twice", slot));
    }
  }

  void check_sum() {
    std::uint64_t bytes = server_.free_bytes;
    for (const auto& [offset, block_bytes] : server_.allocated) bytes += block_bytes;
    if (bytes == server_.geometry.extents_bytes) return;
    report(fmt::format("{} bytes are allocated or free, of {} bytes of extents", bytes,
                       server_.geometry.extents_bytes));
  }

  const ServerInspection& server_;
  std::map<std::uint64_t, std::uint64_t> unused_;  // allocated blocks without an entry so far
  std::set<std::vector<std::byte>> keys_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> find_problems(const ServerInspection& server) {
  return Audit(server).run();
}

}  // namespace falafel::pilaf
