#include "tools/scenarios/cluster/change_tools.h"

namespace falafel::cluster_scenario {

namespace {
constexpr std::uint64_t longest_way_ns = 20'000;  // to etcd, and back
}  // namespace

void sleep_up_to(fabric::Host& host, std::uint64_t longest_ns) {
  host.sleep_until(host.now_ns() + host.random(longest_ns));
}

tl::expected<engine::PlacementDirectory::Entry, std::string> Directory::read() {
  sleep_up_to(host_, longest_way_ns);
  Entry entry = entry_;
  sleep_up_to(host_, longest_way_ns);
  return entry;
}

tl::expected<bool, std::string> Directory::replace(const engine::PlacementList& list,
                                                   std::uint64_t revision) {
  sleep_up_to(host_, longest_way_ns);
  const bool is_current = entry_.revision == revision;
  if (is_current) {
    entry_ = {.list = list, .revision = revision + 1};
    if (on_replaced_) on_replaced_();
  }
  sleep_up_to(host_, longest_way_ns);
  return is_current;
}

tl::expected<void, engine::Answer> Keys::list(Contents& contents) {
  return client_->for_each_key([&](const engine::KeyAndValue& pair) {
    contents.keys.push_back({{pair.key.begin(), pair.key.end()}, pair.time_to_live_ns});
  });
}

engine::SetResult Keys::set(std::span<const std::byte> key, std::span<const std::byte> value,
                            std::uint64_t time_to_live_ns) {
  if (!options_.may_change()) return {};
  const engine::SetResult result = client_->set(key, value, time_to_live_ns);
  if (result.answer == engine::Answer::stored) options_.on_copied();
  return result;
}

bool Keys::is_same_run() {
  if (options_.found == nullptr) return true;
  const std::uint32_t life = place_.lives;
  if (client_->get(engine::any_key).answer == engine::Answer::disconnected) return false;
  (*options_.found)[server_] = life;
  return true;
}

}  // namespace falafel::cluster_scenario
