#include "stores/c_hint/invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "stores/c_hint/layout.h"

namespace falafel::c_hint {
namespace {

class Audit {
 public:
  explicit Audit(const ServerInspection& server) : server_(server), unused_(server.allocated) {}

  std::vector<std::string> run() {
    for (const auto& [item, descriptor] : server_.descriptors) check(item, descriptor);
    for (const auto& [lease_end_ns, offset] : server_.waiting) take_block(offset, 0);
    for (const auto& [offset, bytes] : unused_) {
      report(fmt::format("nothing uses the allocated block of {} bytes at {}", bytes, offset));
    }
    check_sum();
    return std::move(problems_);
  }

 private:
  void report(std::string problem) { problems_.push_back(std::move(problem)); }

  bool take_block(std::uint64_t offset, std::uint64_t bytes) {
    const auto block = unused_.find(offset);
    if (block == unused_.end() || block->second < bytes) {
      report(fmt::format("the {} bytes at {} are not a block of their own", bytes, offset));
      return false;
    }
    unused_.erase(block);
    return true;
  }

  void check(Item item, const Descriptor& descriptor) {
    const auto& [key, offset, item_bytes, version, lease_end_ns, life_end_ns] = descriptor;
    if (hash_of_key(key) != item) {
      report(fmt::format("the descriptor {} has a key of another hash", item));
    }
    if (!take_block(offset, item_bytes)) return;
    const auto view =
        parse_item(server_.verifier, std::span(server_.memory).subspan(offset, item_bytes));
    if (!view) return report(fmt::format("the item at {} does not verify", offset));
    if (view->header.state != ItemState::live || view->header.version != version ||
        !std::ranges::equal(view->key, key)) {
      report(fmt::format("the item at {} is not that of its descriptor", offset));
    }
  }

  void check_sum() {
    std::uint64_t bytes = server_.free_bytes;
    for (const auto& [offset, block_bytes] : server_.allocated) bytes += block_bytes;
    if (bytes == server_.memory.size()) return;
    report(fmt::format("{} bytes are allocated or free, of {}", bytes, server_.memory.size()));
  }

  const ServerInspection& server_;
  std::map<std::uint64_t, std::uint64_t> unused_;  // allocated blocks that nothing uses so far
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> find_problems(const ServerInspection& server) {
  return Audit(server).run();
}

}  // namespace falafel::c_hint
