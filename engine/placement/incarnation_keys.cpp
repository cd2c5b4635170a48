#include "engine/placement/incarnation_keys.h"

namespace falafel::engine {

void IncarnationKeys::run(const std::function<void(Client&)>& body) {
  run_connected_([&](Client& client) {
    if (client.server_incarnation() == incarnation_) body(client);
  });
}

// Tries again what found the connection broken and changed nothing.
template <typename Result>
Result IncarnationKeys::operate(const std::function<Result(Client&)>& operation) {
  Result result;
  for (int attempt = 0; attempt < 2 && result.answer == Answer::disconnected; ++attempt) {
    run([&](Client& client) { result = operation(client); });
  }
  return result;
}

// Nothing else runs between the question and the start of the operation, so whoever asks the server
// for the end of operations later learns of it.
template <typename Result>
Result IncarnationKeys::change(const std::function<Result(Client&)>& operation) {
  return operate<Result>(
      [&](Client& client) { return may_change_() ? operation(client) : Result(); });
}

tl::expected<void, Answer> IncarnationKeys::list(Contents& contents) {
  tl::expected<void, Answer> done = tl::unexpected(Answer::disconnected);
  run([&](Client& client) {
    done = client.for_each_key(
        [&](const KeyAndValue& pair) {
          contents.keys.push_back({{pair.key.begin(), pair.key.end()}, pair.time_to_live_ns});
        },
        [&](const DamagedContainer& damaged) { contents.damaged.push_back(damaged); });
  });
  if (!done && done.error() == Answer::corrupted) return {};
  return done;
}

GetResult IncarnationKeys::get(std::span<const std::byte> key) {
  return operate<GetResult>([&](Client& client) { return client.get(key); });
}

SetResult IncarnationKeys::set(std::span<const std::byte> key, std::span<const std::byte> value,
                               std::uint64_t time_to_live_ns) {
  return change<SetResult>([&](Client& client) { return client.set(key, value, time_to_live_ns); });
}

DeleteResult IncarnationKeys::remove(std::span<const std::byte> key) {
  return change<DeleteResult>([&](Client& client) { return client.remove(key); });
}

DeleteResult IncarnationKeys::drop(const DamagedContainer& damaged) {
  return change<DeleteResult>([&](Client& client) { return client.drop_damaged(damaged); });
}

tl::expected<void, Answer> IncarnationKeys::wait_for_end_of_operations(std::uint64_t timeout_ns) {
  tl::expected<void, Answer> ended = tl::unexpected(Answer::disconnected);
  run([&](Client& client) { ended = client.wait_for_end_of_operations(timeout_ns); });
  return ended;
}

bool IncarnationKeys::is_same_incarnation() { return get(any_key).answer != Answer::disconnected; }

}  // namespace falafel::engine
