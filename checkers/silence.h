// Silence: when a server may give up on a client, and when it must (docs/protocol.md, "Clients that
// are gone").
//
// - The server fences a client that it has not heard for the heartbeat time-out, or that has not
//   answered a question within its time. For the end of operations, that is three time-outs, and
//   one time-out otherwise.
// - It fences no other client. If the server itself looked too late, because it was stalled, all
//   clients get a new time-out that begins when it looks.
//
// The checker does not know when the server handles a message, or when it decides to ask. It knows
// bounds: a message is handled after it arrives and when the server reads, and a question is asked
// before it is sent. A client that stays longer than the latest of these times allow, with half a
// time-out as tolerance, violates "silence.not-fenced". A client that is fenced before the earliest
// of them violates "silence.fenced-early".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "checkers/judgement.h"

namespace falafel::checkers {

enum class ServerQuestion : std::uint8_t { quiescence, regions, end };

class Silence {
 public:
  explicit Silence(std::uint64_t timeout_ns) : timeout_ns_(timeout_ns) {}

  // Clients have any numbers. A server may know that a hostile client violates the protocol, and
  // fence it at any time.
  void on_connected(std::uint32_t client, bool is_hostile, std::uint64_t time_ns);
  // A message of the client has arrived at the server.
  void on_message(std::uint32_t client, std::uint64_t time_ns);
  // The server asked the client, not before `first_ns` and not after `last_ns`.
  void on_asked(std::uint32_t client, ServerQuestion question, std::uint64_t first_ns,
                std::uint64_t last_ns);
  // The answer has arrived at the server.
  void on_answered(std::uint32_t client, ServerQuestion question);
  // The connection ends for another reason than silence.
  void on_left(std::uint32_t client) { clients_.erase(client); }
  // The server has died with all that it knew.
  void on_server_died();

  // The server begins to read messages that have arrived.
  void on_messages_read(std::uint64_t time_ns);
  // Time passes while the server could look, but has nothing to do.
  void on_waited(std::uint64_t duration_ns) { waited_ns_ += duration_ns; }
  // The server looks whether a client is silent. It fences all that are before it looks again.
  void on_look(std::uint64_t time_ns, std::uint64_t step);
  // The server fences the client, neither for a breach nor after a goodbye. It may have asked the
  // client something at `asked_ns` or later that has not reached the client; never_ns: it has not.
  void on_fenced(std::uint32_t client, std::uint64_t time_ns, std::uint64_t asked_ns,
                 std::uint64_t step);

  // The first violation.
  const Judgement& judgement() const { return judgement_; }

 private:
  struct Asked {
    std::uint64_t first_ns = 0;
    std::uint64_t last_ns = 0;
  };
  struct Client {
    bool is_hostile = false;
    std::uint64_t connected_ns = 0;
    std::uint64_t arrived_ns = 0;      // the last message
    std::uint64_t heard_from_ns = 0;   // the last one that had arrived before the last look
    std::uint64_t heard_until_ns = 0;  // the server has handled none after this time
    std::uint32_t readings_left = 0;   // until the server has read all that has arrived
    std::array<std::optional<Asked>, 3> questions{};
  };

  static std::uint64_t timeouts_of(std::size_t question);
  std::uint64_t latest_plan_ns() const;
  std::uint64_t latest_deadline_ns(const Client& client) const;
  void fail(std::string property, std::string explanation, std::uint64_t step);

  std::uint64_t timeout_ns_;
  std::map<std::uint32_t, Client> clients_;
  std::optional<std::uint64_t> last_look_ns_;
  std::uint64_t waited_ns_ = 0;  // since the last look
  // The server excuses its clients at least, and at most, until these times.
  std::uint64_t surely_excused_until_ns_ = 0;
  std::uint64_t perhaps_excused_until_ns_ = 0;
  Judgement judgement_{.verdict = Verdict::holds, .property = "silence", .explanation = {}};
};

}  // namespace falafel::checkers
