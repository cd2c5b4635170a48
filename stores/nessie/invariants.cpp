#include "stores/nessie/invariants.h"

#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "stores/nessie/hashing.h"

namespace falafel::nessie {

namespace {

class Inspector {
 public:
  Inspector(std::span<const NodeInspection> nodes, const Options& options, const Remains& remains)
      : nodes_(nodes), options_(options), remains_(remains) {}

  std::vector<std::string> run() {
    for (std::uint64_t node = 0; node < nodes_.size(); ++node) inspect_index(node);
    for (std::uint64_t node = 0; node < nodes_.size(); ++node) inspect_entries(node);
    return std::move(problems_);
  }

 private:
  using EntryPlace = std::pair<std::uint64_t, std::uint64_t>;  // node, index

  static std::string name(const Slot& slot) {
    return "slot " + std::to_string(slot.index) + " of node " + std::to_string(slot.node);
  }

  void inspect_index(std::uint64_t node) {
    if (nodes_[node].memory == nullptr) return;
    const NodeLayout& layout = nodes_[node].layout;
    for (std::uint64_t index = 0; index < layout.index_entries(); ++index) {
      std::uint64_t word = 0;
      std::memcpy(&word, nodes_[node].memory->bytes().data() + layout.index_offset(index),
                  sizeof word);
      inspect_word({.node = node, .index = index}, word);
    }
  }

  void inspect_word(const Slot& slot, std::uint64_t word) {
    const IndexEntry index = decode(word);
    if (!has_watermark(word)) problems_.push_back(name(slot) + " has no watermark");
    if (index.is_empty) return;
    if (index.data_table >= nodes_.size()) {
      problems_.push_back(name(slot) + " refers to a node that does not exist");
      return;
    }
    if (!options_.is_client_driven() && index.data_table != slot.node) {
      problems_.push_back(name(slot) + " refers to a DTE of another node: " + describe(word));
    }
    const NodeInspection& owner = nodes_[index.data_table];
    if (owner.memory == nullptr) return;
    const std::uint64_t number = index.data_entry % owner.layout.data_entries();
    if (!referred_.insert({index.data_table, number}).second) {
      problems_.push_back(name(slot) +
                          " and another slot refer to the same DTE: " + describe(word));
    }
    if ((*owner.books)[number].state != EntryState::used) {
      problems_.push_back(name(slot) + " refers to a DTE that is not in use: " + describe(word));
      return;
    }
    const auto entry = read(index.data_table, number);
    if (!entry) {
      problems_.push_back(name(slot) + " refers to a DTE with impossible sizes");
      return;
    }
    inspect_reference(slot, index, *entry);
  }

  void inspect_reference(const Slot& slot, const IndexEntry& index, const DataEntry& entry) {
    if (!entry.header.is_valid() && !remains_.invalid_entries) {
      problems_.push_back(name(slot) + " refers to an invalid DTE");
    }
    if (entry.header.is_recycled()) {
      problems_.push_back(name(slot) + " refers to a DTE that is marked for recycling");
    }
    if (!candidates_of(entry.key, nodes_.size(), options_).contains(slot)) {
      problems_.push_back(name(slot) + " has a key that does not belong there");
    }
    if (index.filter != filter_of(entry.key, options_)) {
      problems_.push_back(name(slot) + " has a filter that is not that of its key");
    }
    if (const auto [other, is_new] = keys_.insert({entry.key, slot});
        !is_new && !remains_.invalid_entries) {
      problems_.push_back(name(slot) + " and " + name(other->second) + " have the same key");
    }
  }

  void inspect_entries(std::uint64_t node) {
    if (nodes_[node].memory == nullptr) return;
    for (std::uint64_t index = 0; index < nodes_[node].books->size(); ++index) {
      const EntryState state = (*nodes_[node].books)[index].state;
      const std::string text = "DTE " + std::to_string(index) + " of node " + std::to_string(node);
      if (state == EntryState::held && !remains_.lost_entries) {
        problems_.push_back(text + " is held by no operation");
      }
      if (state != EntryState::used || referred_.contains({node, index})) continue;
      const auto entry = read(node, index);
      const bool is_marked = entry && entry->header.is_recycled();
      if (!is_marked && !remains_.lost_entries) {
        problems_.push_back(text + " is lost: in use, and neither referred to nor marked");
      }
    }
  }

  std::optional<DataEntry> read(std::uint64_t node, std::uint64_t number) const {
    const NodeLayout& layout = nodes_[node].layout;
    return layout.entry().decode(nodes_[node].memory->bytes().subspan(
        layout.data_offset(number), layout.entry().entry_bytes()));
  }

  std::span<const NodeInspection> nodes_;
  const Options& options_;
  Remains remains_;
  std::vector<std::string> problems_;
  std::set<EntryPlace> referred_;
  std::map<Bytes, Slot> keys_;
};

}  // namespace

std::vector<std::string> find_problems(std::span<const NodeInspection> nodes,
                                       const Options& options, const Remains& remains) {
  return Inspector(nodes, options, remains).run();
}

}  // namespace falafel::nessie
