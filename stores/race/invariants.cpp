#include "stores/race/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "stores/race/hashing.h"
#include "stores/race/layout.h"

namespace falafel::race {
namespace {

class Inspector {
 public:
  explicit Inspector(const NodeInspection& node)
      : node_(node), layout_(node.geometry.subtable), memory_(node.memory) {}

  std::vector<std::string> run() {
    const std::uint64_t depth = word(Geometry::depth_offset);
    if (depth > node_.geometry.most_depth) {
      return {
          fmt::format("the directory has depth {}, above {}", depth, node_.geometry.most_depth)};
    }
    for (std::uint64_t index = 0; index < std::uint64_t{1} << depth; ++index) {
      inspect_entry(index);
    }
    return std::move(problems_);
  }

 private:
  std::uint64_t word(std::uint64_t offset) const {
    std::uint64_t value = 0;
    std::memcpy(&value, memory_.data() + offset, sizeof value);
    return value;
  }

  template <typename... Arguments>
  void report(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    problems_.push_back(fmt::format(format, std::forward<Arguments>(arguments)...));
  }

  // The range lies in one piece that the node has handed out.
  bool was_handed_out(std::uint64_t offset, std::uint64_t length) const {
    const auto after = node_.allocated.upper_bound(offset);
    if (after == node_.allocated.begin()) return false;
    const auto& [begin, size] = *std::prev(after);
    return offset + length <= begin + size;
  }

  void inspect_entry(std::uint64_t index) {
    const DirectoryEntry entry = decode_entry(word(Geometry::entry_offset(index)));
    if (!was_handed_out(entry.subtable, layout_.bytes())) {
      return report("entry {} of the directory leads to {}, which is no subtable", index,
                    entry.subtable);
    }
    const BucketHeader expected{.local_depth = static_cast<std::uint32_t>(entry.local_depth),
                                .suffix = static_cast<std::uint32_t>(
                                    index & ((std::uint64_t{1} << entry.local_depth) - 1))};
    if (!subtables_.insert(entry.subtable).second) return;
    const bool is_split = entry.state != EntryState::settled || has_prepared_sibling(index, entry);
    for (std::uint64_t bucket = 0; bucket < layout_.buckets(); ++bucket) {
      inspect_bucket(entry.subtable, bucket, expected, is_split);
    }
  }

  // A client has begun to split the entry's subtable.
  bool has_prepared_sibling(std::uint64_t index, const DirectoryEntry& entry) const {
    if (entry.local_depth >= node_.geometry.most_depth) return false;
    const std::uint64_t sibling = index | std::uint64_t{1} << entry.local_depth;
    return decode_entry(word(Geometry::entry_offset(sibling))).state == EntryState::prepared;
  }

  void inspect_bucket(std::uint64_t subtable, std::uint64_t bucket, const BucketHeader& expected,
                      bool is_split) {
    const std::uint64_t offset = subtable + layout_.bucket_offset(bucket);
    BucketHeader header;
    std::memcpy(&header, memory_.data() + offset, sizeof header);
    if (!is_split && header != expected) {
      report("bucket {} of subtable {} has depth {} and suffix {}, not {} and {}", bucket, subtable,
             header.local_depth, header.suffix, expected.local_depth, expected.suffix);
    }
    for (std::uint64_t slot = 0; slot < layout_.slots_per_bucket(); ++slot) {
      const std::uint64_t value = word(offset + SubtableLayout::slot_offset(slot));
      if (value == empty_slot || (is_split && value == reserved_slot)) continue;
      inspect_slot(subtable, bucket, decode(value), is_split ? BucketHeader() : expected);
    }
  }

  void inspect_slot(std::uint64_t subtable, std::uint64_t bucket, const Slot& slot,
                    const BucketHeader& header) {
    const std::string name = fmt::format("a slot of bucket {} of subtable {}", bucket, subtable);
    const std::uint64_t length = slot.units * unit_bytes;
    if (length == 0 || !was_handed_out(slot.offset(), length)) {
      return report("{} leads to {} units at {}, which is no block", name, slot.units,
                    slot.offset());
    }
    for (std::uint64_t unit = slot.unit; !slot.is_frozen && unit < slot.unit + slot.units; ++unit) {
      if (!used_units_.insert(unit).second) {
        return report("{} leads to the block at {}, which another slot has", name, slot.offset());
      }
    }
    const auto block = parse_block(memory_.subspan(slot.offset(), length));
    if (!block || !block->is_right || block->tag != slot.tag) {
      return report("{} leads to the block at {}, which does not verify", name, slot.offset());
    }
    inspect_key(name, bucket, slot, *block, header);
  }

  void inspect_key(const std::string& name, std::uint64_t bucket, const Slot& slot,
                   const BlockView& block, const BucketHeader& header) {
    const KeyHash hash = hash_of(block.key, node_.hash_seed);
    if (hash.fingerprint(node_.fingerprint_bits) != slot.fingerprint) {
      report("{} has another fingerprint than its key", name);
    }
    const auto choices = hash.choices(layout_.combined_buckets());
    const bool is_in_place = std::ranges::any_of(choices, [&](std::uint64_t combined) {
      const std::uint64_t first = combined / 2 * buckets_per_group + combined % 2;
      return bucket == first || bucket == first + 1;
    });
    // A client that dies may leave a tentative slot in a subtable that its key has left.
    const bool is_in_subtable =
        slot.is_tentative || hash.suffix(header.local_depth) == header.suffix;
    if (!is_in_place || !is_in_subtable) {
      report("{} has a key that belongs elsewhere", name);
    }
    const std::string key(reinterpret_cast<const char*>(block.key.data()), block.key.size());
    if (!slot.is_tentative && !slot.is_frozen && !keys_.insert(key).second) {
      report("{} has a key that another slot has", name);
    }
  }

  const NodeInspection& node_;
  const SubtableLayout& layout_;
  std::span<const std::byte> memory_;
  std::set<std::uint64_t> subtables_;
  std::set<std::uint64_t> used_units_;
  std::set<std::string> keys_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> find_problems(const NodeInspection& node) { return Inspector(node).run(); }

}  // namespace falafel::race
