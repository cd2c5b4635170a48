#include "stores/race/connection.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "stores/bytes.h"

namespace falafel::race {
namespace {

bool is_plausible(const NodeHello& hello) {
  return hello.magic == hello_magic && hello.version == layout_version &&
         hello.slots_per_bucket > 0 && hello.groups_per_subtable > 0 &&
         hello.fingerprint_bits <= 8 && hello.most_depth <= most_depth &&
         hello.most_block_bytes > 0 && hello.most_block_bytes % unit_bytes == 0;
}

}  // namespace

// A chain has at most blocks_at_a_time requests, and a message and a check may be posted as well.
Connection::Connection(fabric::Host& host, const Options& options, OperationStatistics& statistics)
    : host_(host),
      options_(options),
      statistics_(statistics),
      domain_(host.device(0).create_protection_domain()),
      end_(host, *domain_,
           {.max_requests = blocks_at_a_time + 2,
            .server_timeout_ns = options.server_timeout_ns,
            .check_interval_ns = options.check_interval_ns,
            .acknowledge_timeout_ns = options.acknowledge_timeout_ns,
            .retry_count = options.retry_count},
           statistics, *this) {}

fabric::Result<std::unique_ptr<Connection>> Connection::open(fabric::Host& host,
                                                             const fabric::Address& server,
                                                             const Options& options,
                                                             std::uint64_t client_id,
                                                             OperationStatistics& statistics) {
  std::unique_ptr<Connection> connection(new Connection(host, options, statistics));
  const ClientHello client{.client_id = client_id};
  const auto data = connection->end_.connect(server, stores::to_private_data(client));
  if (!data) return tl::unexpected(data.error());
  const auto hello = stores::from_bytes<NodeHello>(*data);
  if (!hello || !is_plausible(*hello)) {
    return fabric::make_error(fabric::ErrorCode::invalid_argument,
                              server.host + " is no RACE memory node of this version");
  }
  connection->node_ = *hello;
  connection->geometry_ = {
      .subtable = SubtableLayout(hello->groups_per_subtable, hello->slots_per_bucket),
      .most_depth = hello->most_depth,
      .heap_bytes = hello->heap_bytes};
  auto prepared = connection->end_.prepare(message_bytes, connection->own_bytes());
  if (!prepared) return tl::unexpected(prepared.error());
  return connection;
}

Bytes Connection::copy_of(std::uint64_t own_offset, std::uint64_t length_bytes) {
  const auto bytes = end_.own_bytes(own_offset, length_bytes);
  return {bytes.begin(), bytes.end()};
}

bool Connection::read_buckets(CombinedBuckets& buckets, const std::optional<BlockWrite>& write) {
  const std::uint64_t length = geometry_.subtable.combined_bytes();
  std::array<fabric::WorkRequest, 3> chain;
  for (std::size_t number = 0; number < 2; ++number) {
    chain[1 + number] =
        end_.own_request(buckets_offset() + number * length, node_.memory_key,
                         buckets.offsets[number], static_cast<std::uint32_t>(length));
  }
  if (write) {
    std::ranges::copy(write->bytes, end_.own_bytes(write_offset(), write->bytes.size()).begin());
    chain[0] = end_.own_request(write_offset(), node_.memory_key, write->offset,
                                static_cast<std::uint32_t>(write->bytes.size()));
    chain[0].opcode = fabric::Opcode::write;
  }
  if (!end_.read(std::span(chain).last(write ? 3 : 2))) return false;
  for (std::size_t number = 0; number < 2; ++number) {
    buckets.bytes[number] = copy_of(buckets_offset() + number * length, length);
  }
  return true;
}

bool Connection::is_in_heap(const Slot& slot) const {
  const std::uint64_t length = slot.units * unit_bytes;
  return length <= node_.most_block_bytes && slot.offset() >= geometry_.heap_offset() &&
         slot.offset() + length <= geometry_.block_bytes();
}

bool Connection::read_blocks(std::span<const Slot> slots, std::vector<Bytes>& blocks) {
  std::vector<fabric::WorkRequest> chain;
  const auto place = [&](std::size_t number) {
    return blocks_offset() + number * node_.most_block_bytes;
  };
  for (std::size_t number = 0; number < slots.size(); ++number) {
    if (!is_in_heap(slots[number])) {
      ++statistics_.wild_pointers;
      continue;
    }
    chain.push_back(end_.own_request(place(number), node_.memory_key, slots[number].offset(),
                                     static_cast<std::uint32_t>(slots[number].units * unit_bytes)));
  }
  if (!chain.empty() && !end_.read(chain)) return false;
  for (std::size_t number = 0; number < slots.size(); ++number) {
    const bool was_read = is_in_heap(slots[number]);
    blocks.push_back(was_read ? copy_of(place(number), slots[number].units * unit_bytes) : Bytes());
  }
  statistics_.blocks_read += slots.size();
  return true;
}

bool Connection::swap(std::uint64_t offset, std::uint64_t expected, std::uint64_t desired,
                      std::uint64_t& word) {
  std::array chain{end_.own_request(0, node_.memory_key, offset, fabric::word_bytes)};
  chain[0].opcode = fabric::Opcode::compare_and_swap;
  chain[0].compare = expected;
  chain[0].swap_or_add = desired;
  if (!end_.read(chain)) return false;
  std::memcpy(&word, end_.own_bytes(0, fabric::word_bytes).data(), sizeof word);
  if (word != expected) ++statistics_.lost_swaps;
  return true;
}

bool Connection::read(std::uint64_t own_offset, std::uint64_t offset, std::uint64_t length_bytes) {
  std::array chain{end_.own_request(own_offset, node_.memory_key, offset,
                                    static_cast<std::uint32_t>(length_bytes))};
  return end_.read(chain);
}

bool Connection::read_word(std::uint64_t offset, std::uint64_t& word) {
  if (!read(0, offset, sizeof word)) return false;
  std::memcpy(&word, end_.own_bytes(0, sizeof word).data(), sizeof word);
  return true;
}

bool Connection::read_bucket(std::uint64_t offset, Bytes& bytes) {
  const std::uint64_t length = geometry_.subtable.bucket_bytes();
  if (!read(buckets_offset(), offset, length)) return false;
  bytes = copy_of(buckets_offset(), length);
  return true;
}

bool Connection::write_copies(std::span<const std::uint64_t> offsets,
                              std::span<const std::byte> bytes) {
  std::ranges::copy(bytes, end_.own_bytes(buckets_offset(), bytes.size()).begin());
  while (!offsets.empty()) {
    const auto now = offsets.first(std::min<std::size_t>(offsets.size(), blocks_at_a_time));
    std::vector<fabric::WorkRequest> chain;
    for (const std::uint64_t offset : now) {
      chain.push_back(end_.own_request(buckets_offset(), node_.memory_key, offset,
                                       static_cast<std::uint32_t>(bytes.size())));
      chain.back().opcode = fabric::Opcode::write;
    }
    if (!end_.read(chain)) return false;
    offsets = offsets.subspan(now.size());
  }
  return true;
}

// The depth first, and then the entries that are in use. If one of them shows that the directory
// has grown meanwhile, both are read again.
bool Connection::read_directory(std::vector<std::uint64_t>& entries) {
  std::uint64_t depth = 0;
  const auto is_deeper = [&](std::uint64_t word) { return settled_depth(word) > depth; };
  do {
    if (!read_word(Geometry::depth_offset, depth)) return false;
    depth = std::min<std::uint64_t>(depth, geometry_.most_depth);
    const std::uint64_t length = fabric::word_bytes << depth;
    if (!read(directory_offset(), Geometry::entry_offset(0), length)) return false;
    entries.resize(std::uint64_t{1} << depth);
    std::memcpy(entries.data(), end_.own_bytes(directory_offset(), length).data(), length);
  } while (std::ranges::any_of(entries, is_deeper));
  return true;
}

// Requests for memory

stores::Meaning Connection::take(std::span<const std::byte> message, std::uint32_t awaited_id) {
  const auto reply = stores::from_bytes<AllocationReply>(message);
  if (!reply || awaited_id == 0 || reply->request_id != awaited_id) return stores::Meaning::nothing;
  reply_ = *reply;
  return stores::Meaning::reply;
}

bool Connection::allocate(std::uint64_t bytes, std::uint64_t& offset) {
  const AllocationRequest request{.request_id = ++last_request_id_, .bytes = bytes};
  const auto outcome =
      end_.exchange({.request_id = request.request_id, .header = stores::bytes_of(request)},
                    host_.now_ns() + options_.server_timeout_ns);
  ++statistics_.allocations;
  offset = reply_.offset;
  return outcome == stores::ExchangeOutcome::answered;
}

}  // namespace falafel::race
