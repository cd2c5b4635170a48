// The queue of Michael and Scott (1996) over one-sided verbs. Its nodes are in the server's memory.
// The head refers to a node whose value has been taken, and the values in the queue are in those
// behind it; the tail refers to the last node, or to the one before it until somebody moves it on.
// Every reference counts its changes. The client that takes a node off the queue uses it again.
//
// The mistake: a pop moves the head by COMPARE_AND_SWAP and then reads the value from the new first
// node. But others may take off that node as well in the meantime, and fill it with another value.
//
// The cure: a pop reads the value first. If the COMPARE_AND_SWAP then succeeds, the node has been
// in the queue all the time.
#include <falafel/checkers/specifications/queue.h>
#include <falafel/explorer/check.h>
#include <falafel/explorer/check/workload.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace {

namespace check = falafel::check;
namespace fabric = falafel::fabric;
using falafel::checkers::specifications::Queue;

// The server's memory: the head and the tail, then nodes of two words. Nodes are numbered from 1; 0
// is none. Node 1 is the first node of the empty queue.
constexpr std::uint64_t head = 0;
constexpr std::uint64_t tail = 8;
constexpr std::uint64_t node_bytes = 16;
constexpr std::uint64_t value_of(std::uint64_t node) { return node * node_bytes; }
constexpr std::uint64_t next_of(std::uint64_t node) { return node * node_bytes + 8; }

// A reference: the node in the lower half, the number of changes in the upper half.
constexpr std::uint64_t node_in(std::uint64_t word) { return word & 0xffff'ffff; }
constexpr std::uint64_t successor(std::uint64_t word, std::uint64_t node) {
  return ((word >> 32) + 1) << 32 | node;
}

std::string describe_word(std::uint64_t word) {
  const std::string node = std::to_string(node_in(word));
  return word == node_in(word) ? node : node + " (change " + std::to_string(word >> 32) + ")";
}

class MichaelScottQueue {
 public:
  // `free_node` is the client's first node.
  MichaelScottQueue(check::RemoteMemory& memory, std::uint64_t free_node, bool reads_value_first)
      : memory_(memory), free_nodes_{free_node}, reads_value_first_(reads_value_first) {}

  bool can_push() const { return !free_nodes_.empty(); }

  void push(std::uint64_t value) {
    const std::uint64_t node = free_nodes_.back();
    free_nodes_.pop_back();
    memory_.write(value_of(node), value);
    // Not by a WRITE: the device does not make it atomic with respect to a late COMPARE_AND_SWAP.
    while (!move(next_of(node), memory_.read(next_of(node)), 0)) {
    }
    while (true) {
      const std::uint64_t last = memory_.read(tail);
      const std::uint64_t next = memory_.read(next_of(node_in(last)));
      if (memory_.read(tail) != last) continue;
      if (node_in(next) != 0) {
        move(tail, last, node_in(next));
      } else if (move(next_of(node_in(last)), next, node)) {
        move(tail, last, node);
        return;
      }
    }
  }

  std::optional<std::uint64_t> pop() {
    while (true) {
      const std::uint64_t first = memory_.read(head);
      const std::uint64_t last = memory_.read(tail);
      const std::uint64_t next = memory_.read(next_of(node_in(first)));
      if (memory_.read(head) != first) continue;
      if (node_in(next) == 0) return std::nullopt;
      if (node_in(first) == node_in(last)) {
        move(tail, last, node_in(next));
        continue;
      }
      std::uint64_t value = reads_value_first_ ? memory_.read(value_of(node_in(next))) : 0;
      if (!move(head, first, node_in(next))) continue;
      if (!reads_value_first_) value = memory_.read(value_of(node_in(next)));
      free_nodes_.push_back(node_in(first));
      return value;
    }
  }

 private:
  // Points the reference at `offset` at the node if it still is as it was seen.
  bool move(std::uint64_t offset, std::uint64_t seen, std::uint64_t node) {
    return memory_.compare_and_swap(offset, seen, successor(seen, node)) == seen;
  }

  check::RemoteMemory& memory_;
  std::vector<std::uint64_t> free_nodes_;
  bool reads_value_first_;
};

using Plan = check::Plan<Queue>;
check::Workload<Queue> workload() {
  return {
      .clients = {2, 3}, .operations = {1, 5}, .draw = [](check::Draw& draw) -> Queue::Operation {
        if (draw.below(2) == 0) return Queue::Pop{};
        return Queue::Push{1 + draw.below(99)};
      }};
}

void test(check::World& world, const Plan& plan, bool has_mistake) {
  const std::uint64_t nodes = plan.clients() + 1;
  auto& history = world.history<Queue>();
  world.name(head, fabric::word_bytes, "head");
  world.name(tail, fabric::word_bytes, "tail");
  for (std::uint64_t node = 1; node <= nodes; ++node) {
    world.name(value_of(node), fabric::word_bytes, "value of node " + std::to_string(node));
    world.name(next_of(node), fabric::word_bytes, "next of node " + std::to_string(node));
  }
  world.describe_words(describe_word);

  world.server("server", [=](fabric::Host& host) {
    check::MemoryServer server(host, value_of(nodes + 1));
    server.memory()->store(head, 1);
    server.memory()->store(tail, 1);
    server.serve();
  });
  world.clients(plan.clients(), [&](fabric::Host& host, std::uint32_t client) {
    check::RemoteMemory memory(host, "server");
    MichaelScottQueue queue(memory, client + 2, !has_mistake);
    for (const Queue::Operation& operation : plan.operations(client)) {
      const auto* const push = std::get_if<Queue::Push>(&operation);
      if (push != nullptr && !queue.can_push()) continue;
      history.call(client, operation, [&] {
        if (push == nullptr) return queue.pop();
        queue.push(push->value);
        return Queue::Result();
      });
    }
  });
  world.run();
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::string_view variant = argument_count == 2 ? arguments[1] : "";
  if (variant != "mistake" && variant != "cure") {
    std::fputs("usage: michael_scott_queue mistake|cure\n", stderr);
    return 2;
  }
  const bool has_mistake = variant == "mistake";
  const check::Result result =
      check::random({.name = std::string("michael_scott_queue.").append(variant)}, workload(),
                    [=](check::World& world, const Plan& plan) { test(world, plan, has_mistake); });
  std::fputs(result.story().c_str(), stdout);
  return result.holds() ? 0 : 1;
}
