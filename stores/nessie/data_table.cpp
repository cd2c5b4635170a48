#include "stores/nessie/data_table.h"

#include <utility>

namespace falafel::nessie {

namespace {

constexpr std::uint64_t flags_offset = 0;
constexpr std::uint64_t expiry_offset = 8;

}  // namespace

DataTable::DataTable(fabric::Host& host, std::shared_ptr<fabric::MemoryBlock> block,
                     const NodeLayout& layout, std::uint64_t node, const Options& options)
    : host_(host),
      block_(std::move(block)),
      layout_(layout),
      node_(node),
      options_(options),
      books_(std::make_shared<std::vector<EntryBook>>(layout.data_entries())) {
  free_.reserve(layout.data_entries());
  for (std::uint64_t index = layout.data_entries(); index > 0; --index) free_.push_back(index - 1);
}

std::optional<std::uint64_t> DataTable::allocate() {
  if (free_.empty()) scan();
  if (free_.empty()) return std::nullopt;
  const std::uint64_t index = free_.back();
  free_.pop_back();
  EntryBook& book = (*books_)[index];
  book.state = EntryState::held;
  ++book.uses;
  if (!options_.safeguards.entry_generations) return index;
  // The numbers of a DTE repeat after 2^47 allocations of an average node.
  const std::uint64_t generations = data_entry_limit / layout_.data_entries();
  return index + book.uses % generations * layout_.data_entries();
}

void DataTable::require_held(std::uint64_t entry) const {
  FALAFEL_ASSERT((*books_)[index_of(entry)].state == EntryState::held,
                 "entry {} of node {} is not held by an operation", index_of(entry), node_);
}

void DataTable::write(std::uint64_t entry, std::uint64_t previous, const Bytes& key,
                      const Bytes& value) {
  require_held(entry);
  const std::uint64_t expiry_ns = options_.safeguards.expiry_reset ? fabric::never_ns : 0;
  const Bytes bytes = layout_.entry().encode(
      {.header = {.expiry_ns = expiry_ns, .previous = previous}, .key = key, .value = value});
  host_.spend(fabric::Work::copy, bytes.size());
  block_->write(layout_.data_offset(entry), bytes);
}

void DataTable::use(std::uint64_t entry) {
  require_held(entry);
  book_of(entry).state = EntryState::used;
}

void DataTable::give_back(std::uint64_t entry) {
  require_held(entry);
  free(index_of(entry));
}

void DataTable::release(std::uint64_t entry) {
  if (book_of(entry).state == EntryState::used) free(index_of(entry));
}

void DataTable::free(std::uint64_t index) {
  (*books_)[index].state = EntryState::free;
  free_.push_back(index);
}

void DataTable::set_valid(std::uint64_t entry) {
  const std::uint64_t offset = layout_.data_offset(entry) + flags_offset;
  if (options_.safeguards.fenced_valid_bit) {
    block_->compare_and_swap(offset, 0, valid_flag);
  } else {
    block_->store(offset, valid_flag);
  }
}

std::uint64_t DataTable::expiry_ns() const {
  return host_.wall_clock_ns() + options_.expiration_ns;
}

void DataTable::mark(std::uint64_t entry, std::uint64_t flags) {
  const std::uint64_t offset = layout_.data_offset(entry);
  block_->store(offset + expiry_offset, expiry_ns());
  block_->store(offset + flags_offset, flags | recycle_flag);
}

std::optional<DataEntry> DataTable::read(std::uint64_t entry, bool with_value) const {
  Bytes bytes(with_value ? layout_.entry().entry_bytes() : layout_.entry().front_bytes());
  host_.spend(fabric::Work::copy, bytes.size());
  block_->read(layout_.data_offset(entry), bytes);
  return layout_.entry().decode(bytes);
}

bool DataTable::is_expired(std::uint64_t offset) const {
  if ((block_->load(offset + flags_offset) & recycle_flag) == 0) return false;
  const std::uint64_t expiry_ns = block_->load(offset + expiry_offset);
  return !options_.safeguards.expiration || expiry_ns <= host_.wall_clock_ns();
}

void DataTable::scan() {
  for (std::uint64_t index = 0; index < layout_.data_entries(); ++index) {
    const EntryBook before = (*books_)[index];
    if (before.state != EntryState::used || !is_expired(layout_.data_offset(index))) continue;
    // Loads wait, and another fiber may have freed the DTE and used it again in the meantime.
    const EntryBook now = (*books_)[index];
    if (now.state == EntryState::used && now.uses == before.uses) free(index);
  }
}

}  // namespace falafel::nessie
