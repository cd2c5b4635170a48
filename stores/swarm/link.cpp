#include "stores/swarm/link.h"

#include <algorithm>
#include <utility>

namespace falafel::swarm {
namespace {

// The client's memory: the word before a swap, a lock, what is read, and what is written.
constexpr std::uint64_t swap_place = 0;
constexpr std::uint64_t lock_place = 8;
constexpr std::uint64_t read_place = 16;

std::uint64_t read_bytes(const Layout& layout) {
  return std::max({layout.record_bytes() + layout.words() * fabric::word_bytes, layout.key_bytes(),
                   sizeof(Link::Groups)});
}
std::uint64_t buffer_place(const Layout& layout) { return read_place + read_bytes(layout); }
std::uint64_t in_place_place(const Layout& layout) {
  return buffer_place(layout) + std::max(layout.record_bytes(), layout.key_bytes());
}

}  // namespace

Link::Link(std::unique_ptr<stores::NodeConnection> connection, std::uint32_t writer,
           const Options& options)
    : connection_(std::move(connection)), writer_(writer), options_(options), layout_(options) {}

fabric::Result<std::unique_ptr<Link>> Link::create(fabric::Host& host, const stores::Member& member,
                                                   std::uint32_t writer, const Options& options) {
  const Layout layout(options);
  auto connection = stores::NodeConnection::create(
      host, member,
      {.buffer_bytes = in_place_place(layout) + layout.record_bytes(),
       .checks_incarnation = options.safeguards.incarnations,
       .connect_timeout_ns = options.connect_timeout_ns,
       .acknowledge_timeout_ns = options.acknowledge_timeout_ns,
       .retry_count = options.retry_count,
       .connections_per_chain = options.connections_per_request});
  if (!connection) return tl::unexpected(connection.error());
  return std::unique_ptr<Link>(new Link(std::move(*connection), writer, options));
}

fabric::WorkRequest Link::words_request(std::uint64_t number) const {
  return stores::read_request(read_place + layout_.record_bytes(), layout_.words_offset(number),
                              layout_.words() * fabric::word_bytes);
}

Seen Link::seen_in_buffer() {
  Seen seen;
  for (std::uint64_t word = 0; word < layout_.words(); ++word) {
    const Word found(connection_->buffer().load(read_place + layout_.record_bytes() +
                                                word * fabric::word_bytes));
    seen.newest = std::max(seen.newest, found);
    if (word == writer_ % layout_.words()) seen.own = found;
  }
  return seen;
}

std::vector<std::byte> Link::bytes_in_buffer(std::uint64_t place, std::uint64_t length_bytes) {
  std::vector<std::byte> bytes(length_bytes);
  connection_->buffer().read(place, bytes);
  return bytes;
}

// Registers

std::optional<Link::Found> Link::read(std::uint64_t number, bool with_record) {
  std::array chain{with_record ? stores::read_request(
                                     read_place, layout_.register_offset(number),
                                     layout_.record_bytes() + layout_.words() * fabric::word_bytes)
                               : words_request(number)};
  if (!connection_->execute(chain)) return std::nullopt;
  Found found{.seen = seen_in_buffer(), .in_place = std::nullopt};
  if (with_record) found.in_place = decode(bytes_in_buffer(read_place, layout_.record_bytes()));
  return found;
}

std::optional<Record> Link::read_buffer(Word word) {
  std::array chain{
      stores::read_request(read_place, layout_.buffer_offset(word), layout_.record_bytes())};
  if (!connection_->execute(chain)) return std::nullopt;
  return decode(bytes_in_buffer(read_place, layout_.record_bytes()));
}

std::optional<Seen> Link::lock_and_read(Word word, std::uint64_t number) {
  // An atomic and a later READ of one queue pair are ordered.
  std::array chain{stores::swap_request(lock_place, layout_.lock_offset(word), 0, 1),
                   words_request(number)};
  if (!connection_->execute(chain)) return std::nullopt;
  return seen_in_buffer();
}

std::optional<bool> Link::read_lock(Word word) {
  std::array chain{stores::read_request(lock_place, layout_.lock_offset(word), fabric::word_bytes)};
  if (!connection_->execute(chain)) return std::nullopt;
  return connection_->buffer().load(lock_place) != 0;
}

std::optional<Link::Changed> Link::swap(const Change& change) {
  std::vector<fabric::WorkRequest> chain;
  if (change.reads_words) chain.push_back(words_request(change.number));
  const auto write_buffer = [&] {
    if (change.buffer.empty()) return;
    chain.push_back(connection_->write_request(
        buffer_place(layout_), layout_.buffer_offset(change.desired), change.buffer));
  };
  if (options_.safeguards.buffer_first) write_buffer();
  chain.push_back(stores::swap_request(swap_place, layout_.word_offset(change.number, writer_),
                                       change.expected.bits(), change.desired.bits()));
  if (!options_.safeguards.buffer_first) write_buffer();
  if (!change.in_place.empty()) {
    chain.push_back(connection_->write_request(
        in_place_place(layout_), layout_.register_offset(change.number), change.in_place));
  }
  if (change.lock) {
    chain.push_back(
        stores::read_request(lock_place, layout_.lock_offset(*change.lock), fabric::word_bytes));
  }
  if (!connection_->execute(chain)) return std::nullopt;
  Changed changed;
  changed.is_repeated = connection_->is_repeated();
  const Word found(connection_->buffer().load(swap_place));
  changed.seen.own = found == change.expected ? change.desired : found;
  changed.seen.newest = changed.seen.own;
  if (change.reads_words) {
    changed.seen.newest = std::max(changed.seen.newest, seen_in_buffer().newest);
  }
  if (change.lock) changed.is_locked = connection_->buffer().load(lock_place) != 0;
  return changed;
}

// The index

std::optional<Link::Groups> Link::read_groups(std::uint64_t first_slot, std::uint64_t second_slot) {
  constexpr std::uint64_t group_bytes = slots_per_group * fabric::word_bytes;
  std::array chain{stores::read_request(read_place, layout_.slot_offset(first_slot), group_bytes),
                   stores::read_request(read_place + group_bytes, layout_.slot_offset(second_slot),
                                        group_bytes)};
  if (!connection_->execute(chain)) return std::nullopt;
  Groups groups{};
  for (std::uint64_t slot = 0; slot < groups.size(); ++slot) {
    groups[slot] = connection_->buffer().load(read_place + slot * fabric::word_bytes);
  }
  return groups;
}

std::optional<std::vector<std::byte>> Link::read_key(std::uint64_t number) {
  std::array chain{
      stores::read_request(read_place, layout_.key_offset(number), layout_.key_bytes())};
  if (!connection_->execute(chain)) return std::nullopt;
  return bytes_in_buffer(read_place, layout_.key_bytes());
}

std::optional<Link::Inserted> Link::insert(std::uint64_t number, std::span<const std::byte> key,
                                           std::uint64_t slot, std::uint64_t desired) {
  std::array chain{
      connection_->write_request(buffer_place(layout_), layout_.key_offset(number), key),
      stores::swap_request(swap_place, layout_.slot_offset(slot), 0, desired)};
  if (!connection_->execute(chain)) return std::nullopt;
  return Inserted{.before = connection_->buffer().load(swap_place),
                  .is_repeated = connection_->is_repeated()};
}

}  // namespace falafel::swarm
