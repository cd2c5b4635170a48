#include "stores/nessie/connection.h"

#include <algorithm>
#include <array>
#include <utility>

#include "stores/bytes.h"

namespace falafel::nessie {

namespace {

// With Completion::watermark, several requests may be complete without having been polled.
constexpr std::uint32_t most_requests = 16;

}  // namespace

fabric::Result<Buffers> Buffers::create(fabric::Host& host, std::uint64_t entry_bytes) {
  Buffers buffers;
  buffers.domain = host.device(0).create_protection_domain();
  const std::uint64_t size_bytes = entry_offset + entry_bytes;
  auto memory =
      stores::RegisteredMemory::create(host, *buffers.domain, size_bytes, {.local_write = true});
  if (!memory) return tl::unexpected(memory.error());
  buffers.memory = std::move(*memory);
  return buffers;
}

Connection::Connection(fabric::Host& host, Buffers& buffers, fabric::Address address,
                       const Options& options, const std::optional<ClientHello>& hello)
    : host_(host), buffers_(buffers), address_(std::move(address)), options_(options) {
  if (hello) own_hello_ = stores::to_private_data(*hello);
}

bool Connection::connect(std::uint64_t deadline_ns) {
  while (!try_to_connect(deadline_ns)) {
    if (host_.now_ns() >= deadline_ns) return false;
    host_.sleep_until(std::min(deadline_ns, host_.now_ns() + options_.reconnect_pause_ns));
  }
  return true;
}

bool Connection::try_to_connect(std::uint64_t deadline_ns) {
  queue_pair_.reset();
  auto completions = host_.device(0).create_completion_queue(2 * most_requests);
  if (!completions) return false;
  completions_ = std::move(*completions);
  auto connection =
      host_.device(0).connect(address_,
                              {.protection_domain = buffers_.domain.get(),
                               .send_completions = completions_.get(),
                               .receive_completions = completions_.get(),
                               .max_send_requests = most_requests,
                               .max_receive_requests = 1,
                               .acknowledge_timeout_ns = options_.acknowledge_timeout_ns,
                               .retry_count = options_.retry_count},
                              own_hello_, deadline_ns);
  if (!connection) return false;
  const auto hello = stores::from_bytes<Hello>(connection->private_data);
  if (!hello) return false;
  hello_ = *hello;
  queue_pair_ = std::move(connection->queue_pair);
  posted_ = completed_ = 0;
  is_broken_ = false;
  return true;
}

void Connection::poll() {
  std::array<fabric::WorkCompletion, 4> polled{};
  const std::size_t count = completions_->poll(polled);
  for (std::size_t number = 0; number < count; ++number) {
    ++completed_;
    if (polled[number].status != fabric::CompletionStatus::success) is_broken_ = true;
  }
}

bool Connection::wait_for_completion() {
  while (completed_ < posted_ && !is_broken_) {
    completions_->wait(fabric::never_ns);
    poll();
  }
  return !is_broken_;
}

// The completion queue is polled, too, because a request that fails never sets the watermark.
bool Connection::wait_for_watermark(std::uint64_t offset) {
  constexpr std::uint64_t poll_interval_ns = 1'000;
  std::uint64_t word = buffers_.memory.block->load(offset);
  while (!has_watermark(word)) {
    poll();
    if (is_broken_) return false;
    if (completed_ == posted_) return true;
    word =
        buffers_.memory.block->wait_until_changed(offset, word, host_.now_ns() + poll_interval_ns);
  }
  return true;
}

bool Connection::post(std::span<const fabric::WorkRequest> chain) {
  if (!is_usable()) return false;
  const bool has_room = posted_ - completed_ + chain.size() <= most_requests;
  if (!has_room && !wait_for_completion()) return false;
  if (!queue_pair_->post_send(chain)) return false;
  posted_ += chain.size();
  return true;
}

Fate Connection::execute(fabric::WorkRequest request,
                         std::optional<std::uint64_t> watermark_offset) {
  if (watermark_offset) buffers_.memory.block->store(*watermark_offset, 0);
  request.local.key = buffers_.memory.region->local_key();
  if (!post(std::span(&request, 1))) return Fate::not_sent;
  const bool is_done =
      watermark_offset ? wait_for_watermark(*watermark_offset) : wait_for_completion();
  return is_done ? Fate::done : Fate::in_doubt;
}

Fate Connection::read_word(std::uint64_t offset) {
  const bool polls = options_.completion == Completion::watermark;
  return execute({.opcode = fabric::Opcode::read,
                  .length_bytes = fabric::word_bytes,
                  .local = {.key = 0, .offset = Buffers::word_offset},
                  .remote = {.key = hello_.index_key, .offset = offset}},
                 polls ? std::optional(Buffers::word_offset) : std::nullopt);
}

Fate Connection::compare_and_swap(std::uint64_t offset, std::uint64_t expected,
                                  std::uint64_t desired) {
  const bool polls = options_.completion == Completion::watermark;
  return execute({.opcode = fabric::Opcode::compare_and_swap,
                  .length_bytes = fabric::word_bytes,
                  .local = {.key = 0, .offset = Buffers::word_offset},
                  .remote = {.key = hello_.index_key, .offset = offset},
                  .compare = expected,
                  .swap_or_add = desired},
                 polls ? std::optional(Buffers::word_offset) : std::nullopt);
}

Fate Connection::read_entry(std::uint64_t offset, std::uint32_t length_bytes,
                            std::optional<std::uint64_t> watermark_offset) {
  const bool polls = options_.completion == Completion::watermark && watermark_offset;
  return execute({.opcode = fabric::Opcode::read,
                  .length_bytes = length_bytes,
                  .local = {.key = 0, .offset = Buffers::entry_offset},
                  .remote = {.key = hello_.data_key, .offset = offset}},
                 polls ? std::optional(Buffers::entry_offset + *watermark_offset) : std::nullopt);
}

Fate Connection::write_mark(std::uint64_t offset, std::uint64_t flags, std::uint64_t expiry_ns) {
  buffers_.memory.block->store(Buffers::mark_offset, flags);
  buffers_.memory.block->store(Buffers::mark_offset + fabric::word_bytes, expiry_ns);
  return execute({.opcode = fabric::Opcode::write,
                  .length_bytes = mark_bytes,
                  .local = {.key = 0, .offset = Buffers::mark_offset},
                  .remote = {.key = hello_.data_key, .offset = offset}},
                 std::nullopt);
}

Fate Connection::write_message(fabric::MemoryAddress local, std::uint64_t length_bytes,
                               std::uint64_t slot_bytes) {
  const MessageWrites writes(
      options_.arrival, length_bytes, local,
      {.key = hello_.request_key, .offset = hello_.request_slot * slot_bytes});
  if (!post(writes.chain())) return Fate::not_sent;
  return wait_for_completion() ? Fate::done : Fate::in_doubt;
}

}  // namespace falafel::nessie
