#include "tools/scenarios/cluster/change_tools.h"

namespace falafel::cluster_scenario {

namespace {
constexpr std::uint64_t longest_way_ns = 20'000;  // to etcd, and back
}  // namespace

std::string name_of(std::size_t server) { return "server " + std::to_string(server); }

std::size_t number_of(const std::string& server) {
  return static_cast<std::size_t>(server.back() - '0');
}

void sleep_up_to(fabric::Host& host, std::uint64_t longest_ns) {
  host.sleep_until(host.now_ns() + host.random(longest_ns));
}

tl::expected<engine::PlacementDirectory::Entry, std::string> Directory::read() {
  if (options_.on_call) options_.on_call();
  const std::uint64_t asked_ns = host_.now_ns();
  sleep_up_to(host_, longest_way_ns);
  const Entry entry = entry_;
  const std::uint64_t read_ns = host_.now_ns();
  sleep_up_to(host_, longest_way_ns);
  if (options_.on_read) {
    options_.on_read(
        {.entry = entry, .asked_ns = asked_ns, .read_ns = read_ns, .answered_ns = host_.now_ns()});
  }
  return entry;
}

tl::expected<bool, std::string> Directory::replace(const engine::PlacementList& list,
                                                   std::uint64_t revision) {
  if (options_.on_replace) options_.on_replace();
  if (options_.on_call) options_.on_call();
  sleep_up_to(host_, longest_way_ns);
  const bool is_current = entry_.revision == revision;
  if (is_current) {
    entry_ = {.list = list, .revision = revision + 1};
    if (options_.on_replaced) options_.on_replaced();
  }
  sleep_up_to(host_, longest_way_ns);
  return is_current;
}

void Keys::reconnect() {
  if (!options_.reconnect || client_->is_connected()) return;
  if (auto client = options_.reconnect()) client_ = std::move(client);
}

engine::IncarnationKeys Keys::keys() {
  const auto run_connected = [this](const std::function<void(engine::Client&)>& body) {
    reconnect();
    body(*client_);
  };
  return {incarnation_, run_connected, options_.may_change};
}

template <typename Result>
Result Keys::operate(const std::function<Result(engine::IncarnationKeys&)>& operation) {
  options_.on_call();
  engine::IncarnationKeys former = keys();
  Result result = operation(former);
  if (options_.compares_incarnations || result.answer != engine::Answer::disconnected) {
    return result;
  }
  reconnect();
  incarnation_ = client_->server_incarnation();
  engine::IncarnationKeys current = keys();
  return operation(current);
}

tl::expected<void, engine::Answer> Keys::list(Contents& contents) {
  options_.on_call();
  auto listed = keys().list(contents);
  if (listed) options_.on_listed(contents);
  return listed;
}

engine::GetResult Keys::get(std::span<const std::byte> key) {
  options_.on_read();
  auto result = operate<engine::GetResult>([&](auto& keys) { return keys.get(key); });
  options_.on_got(key, result.answer);
  return result;
}

engine::SetResult Keys::set(std::span<const std::byte> key, std::span<const std::byte> value,
                            std::uint64_t time_to_live_ns) {
  const Copy copy{.key = key, .value = value, .time_to_live_ns = time_to_live_ns};
  options_.on_copy(copy);
  const engine::Client* const connected = client_->is_connected() ? client_.get() : nullptr;
  const auto result =
      operate<engine::SetResult>([&](auto& keys) { return keys.set(key, value, time_to_live_ns); });
  if (result.answer == engine::Answer::stored) options_.on_copied(copy);
  const bool is_intact = client_.get() == connected && client_->is_connected();
  if (connected != nullptr && !is_intact) options_.on_broken();
  return result;
}

engine::DeleteResult Keys::remove(std::span<const std::byte> key) {
  return operate<engine::DeleteResult>([&](auto& keys) { return keys.remove(key); });
}

engine::DeleteResult Keys::drop(const engine::DamagedContainer& damaged) {
  return operate<engine::DeleteResult>([&](auto& keys) { return keys.drop(damaged); });
}

tl::expected<void, engine::Answer> Keys::wait_for_end_of_operations(std::uint64_t timeout_ns) {
  if (!options_.waits_for_end) return {};
  options_.on_call();
  return keys().wait_for_end_of_operations(timeout_ns);
}

bool Keys::is_same_incarnation() {
  if (options_.found == nullptr) return true;
  const std::uint32_t contents = place_.contents;
  const auto found =
      operate<engine::GetResult>([](auto& keys) { return keys.get(engine::any_key); });
  if (found.answer == engine::Answer::disconnected) return false;
  (*options_.found)[server_] = contents;
  return true;
}

}  // namespace falafel::cluster_scenario
