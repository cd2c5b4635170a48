#include "engine/server/container_reader.h"

#include <algorithm>
#include <mutex>

#include "engine/copy_bytes.h"

namespace falafel::engine {

ContainerReader::ContainerReader(fabric::Host& host, const Chunk& chunk, const MemoryBook& book,
                                 LoopbackConnector& connector, std::uint32_t chunk_key,
                                 LocalMemory buffer)
    : host_(host),
      chunk_(chunk),
      book_(book),
      connector_(connector),
      chunk_key_(chunk_key),
      buffer_(std::move(buffer)),
      reading_(host) {}

std::optional<ContainerCopy> ContainerReader::read(Entry entry, Chunk::Part part) {
  if (!may_be_late(entry)) {
    if (auto container = chunk_.read_container(entry, part)) {
      host_.spend(fabric::Work::checksum,
                  container_header_bytes + container->key.size() + container->value.size());
      return container;
    }
  }
  const std::lock_guard one_at_a_time(reading_);
  return chunk_.read_container(entry, part,
                               [this](std::uint64_t offset, std::span<std::byte> destination) {
                                 read_through_device(offset, destination);
                               });
}

bool ContainerReader::may_be_late(Entry entry) const {
  const auto region = book_.region_at(chunk_.geometry.to_offset(entry.reference()));
  return region && book_.region(*region).state == RegionState::granted;
}

void ContainerReader::read_through_device(std::uint64_t offset, std::span<std::byte> destination) {
  for (std::size_t done = 0; done < destination.size();) {
    const std::size_t length = std::min<std::size_t>(destination.size() - done, buffer_.size_bytes);
    if (!pair_) pair_ = connector_.connect();
    // A broken connection returned nothing; the next connection may succeed.
    if (!read_piece(offset + done, static_cast<std::uint32_t>(length))) {
      pair_.reset();
      continue;
    }
    copy_bytes(buffer_.bytes(0, length), destination.subspan(done, length).data());
    done += length;
  }
}

bool ContainerReader::read_piece(std::uint64_t offset, std::uint32_t length_bytes) {
  if (is_under_way_) next_completion();
  fabric::WorkRequest request;
  request.opcode = fabric::Opcode::read;
  request.length_bytes = length_bytes;
  request.local = buffer_.at(0);
  request.remote = {chunk_key_, offset};
  const auto posted = pair_->near.queue_pair->post_send({&request, 1});
  FALAFEL_ASSERT(posted.has_value(), "{}", posted.error().detail);
  is_under_way_ = true;
  return next_completion().status == fabric::CompletionStatus::success;
}

fabric::WorkCompletion ContainerReader::next_completion() {
  fabric::WorkCompletion completion;
  while (pair_->near.completions->poll({&completion, 1}) == 0) {
    pair_->near.completions->wait(fabric::never_ns);
  }
  is_under_way_ = false;
  return completion;
}

}  // namespace falafel::engine
