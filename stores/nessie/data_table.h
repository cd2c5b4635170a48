// The data table of a node, as its processor sees it (4.1.2, 4.2.5). The clients of the node
// allocate DTEs here; every other access of theirs, and all accesses of other nodes, go by ITEs.
//
// A DTE is free, held by the operation that fills it, or used. A used one becomes free when a scan
// finds it marked for recycling and its expiry passed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fabric/fabric.h"
#include "stores/nessie/layout.h"
#include "stores/nessie/options.h"

namespace falafel::nessie {

enum class EntryState : std::uint8_t { free, held, used };

struct EntryBook {
  EntryState state = EntryState::free;
  std::uint64_t uses = 0;  // how often it was allocated
};

class DataTable {
 public:
  DataTable(fabric::Host& host, std::shared_ptr<fabric::MemoryBlock> block,
            const NodeLayout& layout, std::uint64_t node, const Options& options);

  // A free DTE, which the caller holds. Scans if there is none; nullopt if there still is none.
  std::optional<std::uint64_t> allocate();
  // Fills a held DTE. It is invalid.
  void write(std::uint64_t entry, std::uint64_t previous, const Bytes& key, const Bytes& value);
  // An ITE refers to the held DTE from now on, or may do so.
  void use(std::uint64_t entry);
  // No ITE ever referred to the held DTE.
  void give_back(std::uint64_t entry);
  // Frees a used DTE at once, where nobody can be reading it. Without group locks, two workers may
  // release the same one; the second call then does nothing.
  void release(std::uint64_t entry);

  void set_valid(std::uint64_t entry);
  // Until when a DTE that is marked now must stay as it is, by this host's wall clock.
  std::uint64_t expiry_ns() const;
  void mark(std::uint64_t entry, std::uint64_t flags);
  // nullopt: the sizes are impossible, because the DTE is being written.
  std::optional<DataEntry> read(std::uint64_t entry, bool with_value) const;

  // Frees the DTEs that are marked and expired.
  void scan();

  // For checkers: the state of every DTE.
  const std::vector<EntryBook>& books() const { return *books_; }
  std::shared_ptr<const std::vector<EntryBook>> shared_books() const { return books_; }

 private:
  std::uint64_t index_of(std::uint64_t entry) const { return entry % layout_.data_entries(); }
  EntryBook& book_of(std::uint64_t entry) { return (*books_)[index_of(entry)]; }
  void require_held(std::uint64_t entry) const;
  void free(std::uint64_t index);
  bool is_expired(std::uint64_t offset) const;

  fabric::Host& host_;
  std::shared_ptr<fabric::MemoryBlock> block_;
  NodeLayout layout_;
  std::uint64_t node_;
  Options options_;
  std::shared_ptr<std::vector<EntryBook>> books_;
  std::vector<std::uint64_t> free_;  // indices, the next one last
};

}  // namespace falafel::nessie
