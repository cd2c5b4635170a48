// Grants: who gets a region, when a SET is denied one, and when clients return theirs
// (docs/protocol.md, "Regions").
//
// - A request to store any key gets a region only if the semi-space then still has room for the
//   reserve, from which only overwrites get regions. Property: "grant.of-reserve".
// - A SET is denied memory only after a measurement of live data that knows what its client had
//   freed: it began after the DELETEs that had returned before the SET was called.
//   Property: "grant.stale-denial".
// - While no region is free, the server asks clients for theirs only if none becomes free anyway,
//   because it is being collected, waits for clients, or belongs to a client that is leaving.
//   Property: "grant.asked-early".
// - A client without operations returns the regions that the server has asked for before it sends
//   other messages. Property: "grant.region-kept".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "checkers/judgement.h"
#include "checkers/memory_view.h"

namespace falafel::checkers {

class Grants {
 public:
  // The number of messages by which a client without operations has returned its regions. The first
  // one may find requests of a cancelled operation in flight.
  static constexpr std::uint64_t messages_until_return = 3;

  // `keeps_reserve`: the server keeps room for overwrites.
  explicit Grants(bool keeps_reserve) : keeps_reserve_(keeps_reserve) {}

  // The connection of a client ends. Clients have any numbers.
  void on_left(std::uint32_t client) { clients_.erase(client); }
  void on_server_died() {
    clients_.clear();
    of_reserve_.clear();
  }

  struct Request {
    bool is_for_overwrite = false;
    // The begin of the client's latest DELETE that had removed something and had returned before
    // the SET was called.
    std::optional<std::uint64_t> freed_ns{};
  };
  // A request of the client has arrived.
  void on_requested(std::uint32_t client, const Request& request);
  // The server has granted a region, the newest one in its books. They do not say to which request:
  // on_region() judges it when the client has it.
  void on_granted(const MemoryView& view, std::uint64_t step);
  // The server has denied the request of a SET although a region was free, because there is too
  // much live data. `measured_ns`: its last measurement began at this time.
  void on_denied(std::uint32_t client, std::uint64_t measured_ns, std::uint64_t step);
  // The server has decided to ask a client for its regions.
  void on_decided_to_ask(const MemoryView& view, bool is_client_leaving, std::uint64_t step);

  // These messages have arrived, each at the other side.
  void on_region(std::uint32_t client, std::uint64_t incarnation);
  void on_question(std::uint32_t client, std::uint64_t up_to_incarnation);
  void on_released(std::uint32_t client, std::uint64_t incarnation);
  // Another message of the client has arrived. `messages`: the number of messages that it had sent
  // with this one since it knew the last question and had no operation.
  void on_message(std::uint32_t client, std::uint64_t messages, std::uint64_t step);

  // The first violation.
  const Judgement& judgement() const { return judgement_; }

 private:
  struct Client {
    Request request{};
    std::set<std::uint64_t> regions{};  // by incarnation
    std::optional<std::uint64_t> wanted_up_to{};
  };

  // A region whose grant left less than the reserve.
  struct OfReserve {
    std::string shortage;
    std::uint64_t step = 0;
  };

  void fail(std::string property, std::string explanation, std::uint64_t step);

  bool keeps_reserve_;
  std::map<std::uint32_t, Client> clients_;
  std::map<std::uint64_t, OfReserve> of_reserve_;  // by incarnation
  Judgement judgement_{.verdict = Verdict::holds, .property = "grant", .explanation = {}};
};

}  // namespace falafel::checkers
