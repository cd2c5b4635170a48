#include "stores/race/memory_node.h"

#include <cstring>
#include <utility>

#include "stores/buddy_allocator.h"
#include "stores/bytes.h"
#include "stores/exchange/exchange_server.h"
#include "stores/race/messages.h"
#include "stores/registered_memory.h"

namespace falafel::race {
namespace {

stores::ServerEndsOptions server_ends_options(const Options& options) {
  return {.max_clients = options.max_clients,
          .exchanges = 1,
          .message_bytes = message_bytes,
          .layout = {.reply_offset = message_bytes,
                     .own_offset = 2 * message_bytes,
                     .stride_bytes = message_bytes,
                     .block_bytes = 2 * message_bytes},
          .acknowledge_timeout_ns = options.acknowledge_timeout_ns,
          .retry_count = options.retry_count};
}

Geometry geometry_of(const Options& options) {
  return {.subtable = SubtableLayout(options.groups_per_subtable, options.slots_per_bucket),
          .most_depth = options.most_depth,
          .heap_bytes = options.heap_bytes};
}

}  // namespace

class NodeState final : public std::enable_shared_from_this<NodeState>,
                        public stores::ExchangeService {
 public:
  NodeState(fabric::Host& host, const Options& options)
      : options_(options),
        geometry_(geometry_of(options)),
        hash_seed_(options.hash_seed.value_or(host.random(0))),
        host_(host),
        server_(host, server_ends_options(options)),
        heap_(options.heap_bytes, unit_bytes) {
    incarnation_ = host.random(0);
  }

  fabric::Result<void> start();
  void stop() { server_.stop(); }
  NodeInspection inspect() const;
  NodeStatistics statistics() const;
  const Geometry& geometry() const { return geometry_; }
  std::shared_ptr<fabric::MemoryBlock> memory() const { return memory_.block; }

 private:
  void admit(fabric::ConnectionRequest& request) override;
  bool serve(const stores::ServerEnds::Arrival& arrival) override;
  std::uint64_t allocate(std::uint64_t bytes);
  bool create_subtables();
  NodeHello hello() const;

  const Options options_;
  const Geometry geometry_;
  const std::uint64_t hash_seed_;
  std::uint64_t incarnation_ = 0;
  fabric::Host& host_;
  stores::ExchangeServer server_;
  stores::BuddyAllocator heap_;
  stores::RegisteredMemory memory_;
  NodeStatistics statistics_;
};

fabric::Result<void> NodeState::start() {
  auto memory = stores::RegisteredMemory::create(
      host_, server_.domain(), geometry_.block_bytes(),
      {.local_write = true, .remote_read = true, .remote_write = true, .remote_atomic = true});
  if (!memory) return tl::unexpected(memory.error());
  memory_ = std::move(*memory);
  if (!create_subtables()) {
    return fabric::make_error(fabric::ErrorCode::out_of_memory,
                              "heap_bytes is too small for the first subtables");
  }
  if (auto listening = server_.listen(options_.service); !listening) return listening;
  server_.start(shared_from_this(), "allocate");
  return {};
}

// The device sees them, because clients connect afterwards.
bool NodeState::create_subtables() {
  const auto put = [&](std::uint64_t offset, std::uint64_t word) {
    std::memcpy(memory_.block->bytes().data() + offset, &word, sizeof word);
  };
  put(Geometry::depth_offset, options_.initial_depth);
  for (std::uint32_t suffix = 0; suffix < 1U << options_.initial_depth; ++suffix) {
    const std::uint64_t subtable = allocate(geometry_.subtable.bytes());
    if (subtable == 0) return false;
    const DirectoryEntry entry{.local_depth = options_.initial_depth, .subtable = subtable};
    for (std::uint64_t index = suffix; index < geometry_.most_entries();
         index += std::uint64_t{1} << options_.initial_depth) {
      put(Geometry::entry_offset(index), encode(entry));
    }
    const BucketHeader header{.local_depth = options_.initial_depth, .suffix = suffix};
    for (std::uint64_t bucket = 0; bucket < geometry_.subtable.buckets(); ++bucket) {
      std::memcpy(
          memory_.block->bytes().data() + subtable + geometry_.subtable.bucket_offset(bucket),
          &header, sizeof header);
    }
  }
  return true;
}

// An offset in the memory; 0 if there is none. What is handed out is never taken back.
std::uint64_t NodeState::allocate(std::uint64_t bytes) {
  if (bytes == 0 || bytes > options_.heap_bytes) return 0;
  const auto offset = heap_.allocate(bytes);
  return offset ? geometry_.heap_offset() + *offset : 0;
}

NodeHello NodeState::hello() const {
  return {.memory_key = memory_.region->remote_key(),
          .slots_per_bucket = static_cast<std::uint16_t>(options_.slots_per_bucket),
          .fingerprint_bits = static_cast<std::uint8_t>(options_.fingerprint_bits),
          .most_depth = static_cast<std::uint8_t>(options_.most_depth),
          .groups_per_subtable = options_.groups_per_subtable,
          .hash_seed = hash_seed_,
          .incarnation = incarnation_,
          .heap_bytes = options_.heap_bytes,
          .segment_bytes = options_.segment_bytes,
          .most_block_bytes = options_.most_block_bytes};
}

void NodeState::admit(fabric::ConnectionRequest& request) {
  const auto client = stores::from_bytes<ClientHello>(request.private_data());
  if (!client || client->magic != hello_magic || client->version != layout_version) {
    return stores::ServerEnds::reject(request, "not a RACE client of this version");
  }
  server_.ends().admit(request, {.client_id = client->client_id},
                       [&](const stores::ServerEnd&) { return stores::to_private_data(hello()); });
}

bool NodeState::serve(const stores::ServerEnds::Arrival& arrival) {
  const auto request = stores::from_bytes<AllocationRequest>(arrival.message);
  if (!request) return false;
  const AllocationReply reply{.request_id = request->request_id,
                              .offset = allocate(request->bytes)};
  ++(reply.offset == 0 ? statistics_.refused_allocations : statistics_.allocations);
  server_.ends().reply(arrival.origin(), stores::bytes_of(reply), {});
  return true;
}

NodeStatistics NodeState::statistics() const {
  NodeStatistics statistics = statistics_;
  statistics.clients_connected = server_.ends().connected();
  statistics.busy_ns = server_.busy_ns();
  return statistics;
}

NodeInspection NodeState::inspect() const {
  const std::span<const std::byte> bytes = memory_.block->bytes();
  NodeInspection inspection{.geometry = geometry_,
                            .hash_seed = hash_seed_,
                            .fingerprint_bits = options_.fingerprint_bits,
                            .memory = {bytes.begin(), bytes.end()},
                            .allocated = {},
                            .statistics = statistics()};
  for (const auto& [offset, size] : heap_.allocated()) {
    inspection.allocated[geometry_.heap_offset() + offset] = size;
  }
  return inspection;
}

// The node

fabric::Result<std::unique_ptr<MemoryNode>> MemoryNode::start(fabric::Host& host,
                                                              const Options& options) {
  if (auto problem = find_invalid_option(options, host.device(0).attributes())) {
    return fabric::make_error(fabric::ErrorCode::invalid_argument, std::move(*problem));
  }
  auto state = std::make_shared<NodeState>(host, options);
  if (const auto started = state->start(); !started) return tl::unexpected(started.error());
  return std::unique_ptr<MemoryNode>(new MemoryNode(std::move(state)));
}

MemoryNode::MemoryNode(std::shared_ptr<NodeState> state) : state_(std::move(state)) {}

MemoryNode::~MemoryNode() { state_->stop(); }

NodeInspection MemoryNode::inspect() const { return state_->inspect(); }

NodeStatistics MemoryNode::statistics() const { return state_->statistics(); }

const Geometry& MemoryNode::geometry() const { return state_->geometry(); }

std::shared_ptr<fabric::MemoryBlock> MemoryNode::memory() const { return state_->memory(); }

}  // namespace falafel::race
