#include "engine/placement/placement.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "fabric/fabric.h"

namespace falafel::engine {
namespace {

RendezvousHashing hashing_of(const std::vector<std::string>& servers) {
  return RendezvousHashing(std::vector<std::string_view>(servers.begin(), servers.end()));
}

}  // namespace

std::string problem_of(std::span<const std::string> servers) {
  if (servers.empty()) return "the list of servers is empty; name at least one server";
  std::vector<std::string_view> names(servers.begin(), servers.end());
  std::ranges::sort(names);
  if (names.front().empty()) return "a server of the list has an empty name";
  const auto twice = std::ranges::adjacent_find(names);
  if (twice == names.end()) return {};
  return "the list of servers has '" + std::string(*twice) + "' twice; name each one once";
}

Placement::Placement(PlacementList list)
    : list_(std::move(list)), current_(hashing_of(list_.servers)) {
  FALAFEL_ASSERT(problem_of(list_.servers).empty(), "{}", problem_of(list_.servers));
  if (!list_.is_changing()) return;
  FALAFEL_ASSERT(problem_of(list_.next).empty(), "{}", problem_of(list_.next));
  next_ = hashing_of(list_.next);
}

std::optional<std::size_t> Placement::server_of(std::span<const std::byte> key) const {
  const std::size_t server = current_.server_of(key);
  if (next_ && list_.next[next_->server_of(key)] != list_.servers[server]) return std::nullopt;
  return server;
}

const std::string& Placement::current_server_of(std::span<const std::byte> key) const {
  return list_.servers[current_.server_of(key)];
}

const std::string& Placement::next_server_of(std::span<const std::byte> key) const {
  FALAFEL_ASSERT(next_.has_value(), "no change is under way");
  return list_.next[next_->server_of(key)];
}

}  // namespace falafel::engine
