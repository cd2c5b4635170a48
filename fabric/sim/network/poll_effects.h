// The effects that polling a completion has on its queue pair: places of its queues become free,
// and its processor sees WRITEs of the peer.
#pragma once

#include <cstdint>

#include "fabric/sim/network/connection.h"
#include "fabric/sim/network/receive_queue.h"
#include "fabric/sim/network/send_queue.h"

namespace falafel::sim {

class PollEffects {
 public:
  PollEffects(const Connection& connection, SendQueue& sends, ReceiveQueue& receives,
              bool shares_receives)
      : connection_(connection),
        sends_(sends),
        receives_(receives),
        shares_receives_(shares_receives) {}

  bool is_of_stream() const { return connection_.is_stream(); }
  void give_back_places(bool of_receives, std::uint32_t places) const {
    if (of_receives) {
      give_back_receives(places);
    } else {
      sends_.give_back_places(places);
    }
  }
  // The processor of this side sees the WRITEs before that place in the peer's send queue.
  void show_writes_of_peer(std::uint64_t before_place) const {
    connection_.show_writes_of_peer(before_place);
  }

 private:
  void give_back_receives(std::uint32_t places) const {
    if (shares_receives_) receives_.touch_back(connection_.world());
    receives_.give_back_places(places);
  }

  const Connection& connection_;
  SendQueue& sends_;
  ReceiveQueue& receives_;
  bool shares_receives_;
};

}  // namespace falafel::sim
