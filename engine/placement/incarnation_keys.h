// The keys of a server as long as its memory has the same content, for a change of the list. A
// server that starts over its memory has all that was copied to it, and the change goes on. A
// server whose memory is new has none of it, and all calls answer `disconnected`.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "engine/client/client.h"
#include "engine/placement/change.h"

namespace falafel::engine {

class IncarnationKeys final : public ServerKeys {
 public:
  // Passes a client that is connected to the server, perhaps anew, or does nothing.
  using RunConnected = std::function<void(const std::function<void(Client&)>& body)>;

  // The incarnation is Client::server_incarnation() of the client that reached the server.
  IncarnationKeys(std::uint64_t incarnation, RunConnected run_connected, MayChange may_change)
      : incarnation_(incarnation),
        run_connected_(std::move(run_connected)),
        may_change_(std::move(may_change)) {}

  tl::expected<void, Answer> list(Contents& contents) override;
  GetResult get(std::span<const std::byte> key) override;
  SetResult set(std::span<const std::byte> key, std::span<const std::byte> value,
                std::uint64_t time_to_live_ns) override;
  DeleteResult remove(std::span<const std::byte> key) override;
  DeleteResult drop(const DamagedContainer& damaged) override;
  tl::expected<void, Answer> wait_for_end_of_operations(std::uint64_t timeout_ns) override;
  bool is_same_incarnation() override;

 private:
  void run(const std::function<void(Client&)>& body);
  template <typename Result>
  Result operate(const std::function<Result(Client&)>& operation);
  template <typename Result>
  Result change(const std::function<Result(Client&)>& operation);

  const std::uint64_t incarnation_;
  const RunConnected run_connected_;
  const MayChange may_change_;
};

}  // namespace falafel::engine
