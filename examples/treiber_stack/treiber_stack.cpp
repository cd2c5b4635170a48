// A Treiber stack over one-sided verbs. Its nodes are in the server's memory, and one word, the
// head, refers to the node on top. A push writes a node and points the head at it by
// COMPARE_AND_SWAP; a pop reads the head and the next node, and points the head at that one. The
// client that popped a node uses it again for its next push.
//
// The mistake: the head contains only the node. A pop that reads the head A and its successor B may
// be overtaken by others that pop A and B and push A again. Its COMPARE_AND_SWAP finds A, as
// expected, and puts B back on the stack, which somebody else has popped or is filling (the ABA
// problem).
//
// The cure: the head also counts its changes, so it never has the same value twice.
#include <falafel/checkers/specifications/stack.h>
#include <falafel/explorer/check.h>
#include <falafel/explorer/check/workload.h>
#include <falafel/explorer/main.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace {

namespace check = falafel::check;
namespace fabric = falafel::fabric;
using falafel::checkers::specifications::Stack;

// The server's memory: the head, then nodes of two words. Nodes are numbered from 1; 0 is none.
constexpr std::uint64_t head = 0;
constexpr std::uint64_t node_bytes = 16;
constexpr std::uint64_t value_of(std::uint64_t node) { return node * node_bytes; }
constexpr std::uint64_t next_of(std::uint64_t node) { return node * node_bytes + 8; }

// The head: the node in the lower half, the number of changes in the upper half.
constexpr std::uint64_t node_in(std::uint64_t word) { return word & 0xffff'ffff; }
constexpr std::uint64_t changes_in(std::uint64_t word) { return word >> 32; }

std::string describe_word(std::uint64_t word) {
  const std::string node = std::to_string(node_in(word));
  return word == node_in(word) ? node : node + " (change " + std::to_string(word >> 32) + ")";
}

class TreiberStack {
 public:
  // `free_node` is the client's first node.
  TreiberStack(check::RemoteMemory& memory, std::uint64_t free_node, bool counts_changes)
      : memory_(memory), free_nodes_{free_node}, counts_changes_(counts_changes) {}

  bool can_push() const { return !free_nodes_.empty(); }

  void push(std::uint64_t value) {
    const std::uint64_t node = free_nodes_.back();
    free_nodes_.pop_back();
    memory_.write(value_of(node), value);
    std::uint64_t seen = memory_.read(head);
    while (true) {
      memory_.write(next_of(node), node_in(seen));
      const std::uint64_t found = memory_.compare_and_swap(head, seen, successor(seen, node));
      if (found == seen) return;
      seen = found;
    }
  }

  std::optional<std::uint64_t> pop() {
    std::uint64_t seen = memory_.read(head);
    while (node_in(seen) != 0) {
      const std::uint64_t node = node_in(seen);
      const std::uint64_t next = memory_.read(next_of(node));
      const std::uint64_t value = memory_.read(value_of(node));
      const std::uint64_t found = memory_.compare_and_swap(head, seen, successor(seen, next));
      if (found == seen) {
        free_nodes_.push_back(node);
        return value;
      }
      seen = found;
    }
    return std::nullopt;
  }

 private:
  std::uint64_t successor(std::uint64_t seen, std::uint64_t node) const {
    return counts_changes_ ? (changes_in(seen) + 1) << 32 | node : node;
  }

  check::RemoteMemory& memory_;
  std::vector<std::uint64_t> free_nodes_;
  bool counts_changes_;
};

using Plan = check::Plan<Stack>;
check::Workload<Stack> workload() {
  return {
      .clients = {2, 3}, .operations = {1, 5}, .draw = [](check::Draw& draw) -> Stack::Operation {
        if (draw.below(2) == 0) return Stack::Pop{};
        return Stack::Push{1 + draw.below(99)};
      }};
}

void test(check::World& world, const Plan& plan, bool has_mistake) {
  const std::uint64_t nodes = plan.clients();
  // Always on, except in the command ablate, which expects to find the mistake again.
  const bool counts_changes = world.safeguard("counted-head") && !has_mistake;
  auto& history = world.history<Stack>();
  world.name(head, fabric::word_bytes, "head");
  for (std::uint64_t node = 1; node <= nodes; ++node) {
    world.name(value_of(node), fabric::word_bytes, "value of node " + std::to_string(node));
    world.name(next_of(node), fabric::word_bytes, "next of node " + std::to_string(node));
  }
  world.describe_words(describe_word);

  world.server("server",
               [=](fabric::Host& host) { check::MemoryServer(host, value_of(nodes + 1)).serve(); });
  world.clients(plan.clients(), [&](fabric::Host& host, std::uint32_t client) {
    check::RemoteMemory memory(host, "server");
    TreiberStack stack(memory, client + 1, counts_changes);
    for (const Stack::Operation& operation : plan.operations(client)) {
      const auto* const push = std::get_if<Stack::Push>(&operation);
      if (push != nullptr && !stack.can_push()) continue;
      history.call(client, operation, [&] {
        if (push == nullptr) return stack.pop();
        stack.push(push->value);
        return Stack::Result();
      });
    }
  });
  world.run();
}

std::unique_ptr<check::WorldProgram> program(std::string_view variant) {
  const bool has_mistake = variant == "mistake";
  return check::program<Stack>(
      std::string("treiber_stack.").append(variant), workload(),
      [=](check::World& world, const Plan& plan) { test(world, plan, has_mistake); });
}

// Does the same as check::random, for a program that the commands below know, too.
int search(const check::WorldProgram& program) {
  const check::Result result = check::run_campaign(program, {}, check::own_environment());
  std::fputs(result.story().c_str(), stdout);
  return result.holds() ? 0 : 1;
}

}  // namespace

int main(int argument_count, char** arguments) {
  const auto mistake = program("mistake");
  const auto cure = program("cure");
  const std::string_view variant = argument_count == 2 ? arguments[1] : "";
  if (variant == "mistake") return search(*mistake);
  if (variant == "cure") return search(*cure);
  // Everything else is a command: fuzz, replay, trace, shrink or ablate; see --help.
  const falafel::explorer::Program* const programs[] = {mistake.get(), cure.get()};
  return falafel::explorer::main(argument_count, arguments, programs);
}
