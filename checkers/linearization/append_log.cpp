#include "checkers/linearization/append_log.h"

#include "checkers/linearization/mix.h"

namespace falafel::checkers::linearization {

namespace {

constexpr std::size_t least_slots = 64;  // a power of two

}  // namespace

void AppendLog::begin() {
  nodes_.assign(1, Node{});
  children_.assign(least_slots, empty);
}

State AppendLog::apply(State state, const Transition& transition) {
  switch (transition.kind) {
    case OperationKind::get: return equals(state, value(transition.value)) ? state : impossible;
    case OperationKind::set: return extended(empty, transition.value);
    case OperationKind::append: return extended(state, transition.value);
    case OperationKind::remove:
    case OperationKind::compare_and_swap: break;
  }
  return impossible;
}

bool AppendLog::may_become(State state, const Transition& get) const {
  if (state == unseen_state) return false;
  const std::string_view expected = value(get.value);
  const std::size_t length_bytes = nodes_[state].length_bytes;
  if (length_bytes > expected.size()) return false;
  const std::string_view last = piece(state);
  return expected.substr(length_bytes - last.size(), last.size()) == last;
}

std::uint64_t AppendLog::memory_bytes() const {
  return nodes_.size() * sizeof(Node) + children_.size() * sizeof(State);
}

std::string_view AppendLog::piece(State state) const {
  return state == empty ? std::string_view() : value(nodes_[state].piece);
}

bool AppendLog::equals(State state, std::string_view expected) const {
  if (state == unseen_state) return false;
  if (nodes_[state].length_bytes != expected.size()) return false;
  while (state != empty) {
    const std::string_view last = piece(state);
    if (!expected.ends_with(last)) return false;
    expected.remove_suffix(last.size());
    state = nodes_[state].parent;
  }
  return true;
}

State AppendLog::extended(State parent, std::uint32_t piece) {
  if (parent == unseen_state) return unseen_state;
  const std::size_t piece_bytes = value(piece).size();
  if (piece_bytes == 0) return parent;
  const std::size_t slot = slot_of(parent, piece);
  if (children_[slot] != empty) return children_[slot];
  const auto node = static_cast<State>(nodes_.size());
  nodes_.push_back({parent, piece, nodes_[parent].length_bytes + piece_bytes});
  children_[slot] = node;
  if (2 * nodes_.size() > children_.size()) grow();
  return node;
}

// The slot that holds the child, or the free slot where it belongs.
std::size_t AppendLog::slot_of(State parent, std::uint32_t piece) const {
  const std::size_t mask = children_.size() - 1;
  std::size_t slot = mix(std::uint64_t{parent} << 32U | piece) & mask;
  while (children_[slot] != empty) {
    const Node& node = nodes_[children_[slot]];
    if (node.parent == parent && node.piece == piece) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

void AppendLog::grow() {
  children_.assign(2 * children_.size(), empty);
  for (State node = 1; node < nodes_.size(); ++node) {
    children_[slot_of(nodes_[node].parent, nodes_[node].piece)] = node;
  }
}

}  // namespace falafel::checkers::linearization
