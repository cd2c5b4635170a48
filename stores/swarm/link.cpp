#include "stores/swarm/link.h"

#include <algorithm>
#include <utility>

#include "stores/bytes.h"

namespace falafel::swarm {
namespace {

constexpr std::uint32_t most_requests = 16;

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

Link::Link(fabric::Host& host, Member member, std::uint32_t writer, const Options& options)
    : host_(host),
      member_(std::move(member)),
      writer_(writer),
      options_(options),
      layout_(options) {}

fabric::Result<std::unique_ptr<Link>> Link::create(fabric::Host& host, const Member& member,
                                                   std::uint32_t writer, const Options& options) {
  std::unique_ptr<Link> link(new Link(host, member, writer, options));
  if (auto opened = link->open(); !opened) return tl::unexpected(opened.error());
  return link;
}

fabric::Result<void> Link::open() {
  domain_ = host_.device(0).create_protection_domain();
  auto buffer = stores::RegisteredMemory::create(
      host_, *domain_, in_place_place(layout_) + layout_.record_bytes(), {.local_write = true});
  if (!buffer) return tl::unexpected(buffer.error());
  buffer_ = std::move(*buffer);
  return {};
}

// Connections

bool Link::connect() {
  auto completions = host_.device(0).create_completion_queue(2 * most_requests);
  if (!completions) return false;
  completions_ = std::move(*completions);
  auto connection =
      host_.device(0).connect(member_.address,
                              {.protection_domain = domain_.get(),
                               .send_completions = completions_.get(),
                               .receive_completions = completions_.get(),
                               .max_send_requests = most_requests,
                               .max_receive_requests = 1,
                               .acknowledge_timeout_ns = options_.acknowledge_timeout_ns,
                               .retry_count = options_.retry_count},
                              {}, host_.now_ns() + options_.connect_timeout_ns);
  if (!connection) return false;
  const auto hello = stores::from_bytes<Hello>(connection->private_data);
  if (!hello) return false;
  if (options_.safeguards.incarnations && hello->incarnation != member_.incarnation) {
    is_gone_ = true;
    return false;
  }
  remote_key_ = static_cast<std::uint32_t>(hello->remote_key);
  queue_pair_ = std::move(connection->queue_pair);
  return true;
}

bool Link::execute(std::span<fabric::WorkRequest> chain) {
  for (std::uint32_t broken = 0; broken < options_.connections_per_request && !is_gone_; ++broken) {
    if (queue_pair_ == nullptr && !connect()) return false;
    is_repeated_ = broken > 0;
    if (try_to_execute(chain)) return true;
    queue_pair_.reset();
  }
  return false;
}

// Only the last request of the chain is signalled, and every failure is.
bool Link::try_to_execute(std::span<fabric::WorkRequest> chain) {
  for (fabric::WorkRequest& request : chain) {
    request.signalled = &request == &chain.back();
    request.local.key = buffer_.region->local_key();
    request.remote.key = remote_key_;
  }
  if (!queue_pair_->post_send(chain)) return false;
  host_.spend(fabric::Work::round_trip, 0);
  std::array<fabric::WorkCompletion, 1> completion;
  while (completions_->poll(completion) == 0) completions_->wait(fabric::never_ns);
  return completion.front().status == fabric::CompletionStatus::success;
}

// Requests

fabric::WorkRequest Link::read_request(std::uint64_t local_offset, std::uint64_t remote_offset,
                                       std::uint64_t length_bytes) const {
  return {.opcode = fabric::Opcode::read,
          .length_bytes = static_cast<std::uint32_t>(length_bytes),
          .local = {.offset = local_offset},
          .remote = {.offset = remote_offset}};
}

fabric::WorkRequest Link::write_request(std::uint64_t local_offset, std::uint64_t remote_offset,
                                        std::span<const std::byte> bytes) {
  buffer_.block->write(local_offset, bytes);
  host_.spend(fabric::Work::copy, bytes.size());
  return {.opcode = fabric::Opcode::write,
          .length_bytes = static_cast<std::uint32_t>(bytes.size()),
          .local = {.offset = local_offset},
          .remote = {.offset = remote_offset}};
}

fabric::WorkRequest Link::swap_request(std::uint64_t local_offset, std::uint64_t remote_offset,
                                       std::uint64_t expected, std::uint64_t desired) const {
  return {.opcode = fabric::Opcode::compare_and_swap,
          .length_bytes = fabric::word_bytes,
          .local = {.offset = local_offset},
          .remote = {.offset = remote_offset},
          .compare = expected,
          .swap_or_add = desired};
}

fabric::WorkRequest Link::words_request(std::uint64_t number) const {
  return read_request(read_place + layout_.record_bytes(), layout_.words_offset(number),
                      layout_.words() * fabric::word_bytes);
}

Seen Link::seen_in_buffer() {
  Seen seen;
  for (std::uint64_t word = 0; word < layout_.words(); ++word) {
    const Word found(
        buffer_.block->load(read_place + layout_.record_bytes() + word * fabric::word_bytes));
    seen.newest = std::max(seen.newest, found);
    if (word == writer_ % layout_.words()) seen.own = found;
  }
  return seen;
}

std::vector<std::byte> Link::bytes_in_buffer(std::uint64_t place, std::uint64_t length_bytes) {
  std::vector<std::byte> bytes(length_bytes);
  buffer_.block->read(place, bytes);
  return bytes;
}

// Registers

std::optional<Link::Found> Link::read(std::uint64_t number, bool with_record) {
  std::array chain{with_record
                       ? read_request(read_place, layout_.register_offset(number),
                                      layout_.record_bytes() + layout_.words() * fabric::word_bytes)
                       : words_request(number)};
  if (!execute(chain)) return std::nullopt;
  Found found{.seen = seen_in_buffer(), .in_place = std::nullopt};
  if (with_record) found.in_place = decode(bytes_in_buffer(read_place, layout_.record_bytes()));
  return found;
}

std::optional<Record> Link::read_buffer(Word word) {
  std::array chain{read_request(read_place, layout_.buffer_offset(word), layout_.record_bytes())};
  if (!execute(chain)) return std::nullopt;
  return decode(bytes_in_buffer(read_place, layout_.record_bytes()));
}

std::optional<Seen> Link::lock_and_read(Word word, std::uint64_t number) {
  // An atomic and a later READ of one queue pair are ordered.
  std::array chain{swap_request(lock_place, layout_.lock_offset(word), 0, 1),
                   words_request(number)};
  if (!execute(chain)) return std::nullopt;
  return seen_in_buffer();
}

std::optional<bool> Link::read_lock(Word word) {
  std::array chain{read_request(lock_place, layout_.lock_offset(word), fabric::word_bytes)};
  if (!execute(chain)) return std::nullopt;
  return buffer_.block->load(lock_place) != 0;
}

std::optional<Link::Changed> Link::swap(const Change& change) {
  std::vector<fabric::WorkRequest> chain;
  if (change.reads_words) chain.push_back(words_request(change.number));
  const auto write_buffer = [&] {
    if (change.buffer.empty()) return;
    chain.push_back(
        write_request(buffer_place(layout_), layout_.buffer_offset(change.desired), change.buffer));
  };
  if (options_.safeguards.buffer_first) write_buffer();
  chain.push_back(swap_request(swap_place, layout_.word_offset(change.number, writer_),
                               change.expected.bits(), change.desired.bits()));
  if (!options_.safeguards.buffer_first) write_buffer();
  if (!change.in_place.empty()) {
    chain.push_back(write_request(in_place_place(layout_), layout_.register_offset(change.number),
                                  change.in_place));
  }
  if (change.lock) {
    chain.push_back(
        read_request(lock_place, layout_.lock_offset(*change.lock), fabric::word_bytes));
  }
  if (!execute(chain)) return std::nullopt;
  Changed changed;
  changed.is_repeated = is_repeated_;
  const Word found(buffer_.block->load(swap_place));
  changed.seen.own = found == change.expected ? change.desired : found;
  changed.seen.newest = changed.seen.own;
  if (change.reads_words) {
    changed.seen.newest = std::max(changed.seen.newest, seen_in_buffer().newest);
  }
  if (change.lock) changed.is_locked = buffer_.block->load(lock_place) != 0;
  return changed;
}

// The index

std::optional<Link::Groups> Link::read_groups(std::uint64_t first_slot, std::uint64_t second_slot) {
  constexpr std::uint64_t group_bytes = slots_per_group * fabric::word_bytes;
  std::array chain{
      read_request(read_place, layout_.slot_offset(first_slot), group_bytes),
      read_request(read_place + group_bytes, layout_.slot_offset(second_slot), group_bytes)};
  if (!execute(chain)) return std::nullopt;
  Groups groups{};
  for (std::uint64_t slot = 0; slot < groups.size(); ++slot) {
    groups[slot] = buffer_.block->load(read_place + slot * fabric::word_bytes);
  }
  return groups;
}

std::optional<std::vector<std::byte>> Link::read_key(std::uint64_t number) {
  std::array chain{read_request(read_place, layout_.key_offset(number), layout_.key_bytes())};
  if (!execute(chain)) return std::nullopt;
  return bytes_in_buffer(read_place, layout_.key_bytes());
}

std::optional<std::uint64_t> Link::insert(std::uint64_t number, std::span<const std::byte> key,
                                          std::uint64_t slot, std::uint64_t desired) {
  std::array chain{write_request(buffer_place(layout_), layout_.key_offset(number), key),
                   swap_request(swap_place, layout_.slot_offset(slot), 0, desired)};
  if (!execute(chain)) return std::nullopt;
  return buffer_.block->load(swap_place);
}

}  // namespace falafel::swarm
