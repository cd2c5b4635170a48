// The mature memory as the server's other parts see it: semi-spaces (semi_spaces.h) or blocks
// (blocks.h).
//
// Grants ask one question: is there room for what a client may write to one more region? The answer
// changes nothing. There is room only if the memory can take every region that is granted or not
// yet collected, full of live data, so a collection always finishes (Behringer 3.3). Some room is
// reserved for SETs that overwrite, because they do not increase the amount of live data.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/layout/inspection.h"
#include "engine/server/live_space.h"
#include "fabric/fabric.h"

namespace falafel::engine {

// A request for a region, as far as room for it is concerned.
struct RoomRequest {
  bool overwrites = false;  // it does not increase the amount of live data
  // When it first found no room.
  std::optional<std::uint64_t> wanted_ns{};
  // The number of the measurement that make_room() has made for it, until it is decided.
  std::optional<std::uint64_t> measurement{};
  // The number of bytes that had been copied when no value was left to evict for it.
  std::optional<std::uint64_t> nothing_to_evict_at_bytes{};
};

enum class Room : std::uint8_t {
  free,         // there is room
  comes,        // there may be some after the next change, or at Outlook::look_again_ns
  can_be_made,  // make_room() may find some
  none,
};

struct Outlook {
  Room room = Room::none;
  std::uint64_t look_again_ns = fabric::never_ns;
};

// The operations of the server that the mature memory needs.
class MatureSpaceControl {
 public:
  // The live data in each space. May wait.
  virtual std::vector<LiveSpace> measure_live_data() = 0;
  // Requests the collection of a space; on_collected() reports its end.
  virtual void ask_for_collection(std::uint32_t space) = 0;
  // The answers of room_for() may have changed.
  virtual void on_outlook_changed() = 0;
  // If the server evicts: deletes values, so that a collection makes room. Returns false if it
  // cannot make any. May wait.
  virtual bool evict() = 0;

 protected:
  ~MatureSpaceControl() = default;
};

class MatureSpace {
 public:
  virtual ~MatureSpace() = default;

  virtual Outlook room_for(const RoomRequest& request) const = 0;
  // After Room::can_be_made. Waits.
  virtual void make_room(RoomRequest& request) = 0;
  // After Room::comes: the request waits.
  virtual void on_waiting(const RoomRequest& request) = 0;

  // A client has freed memory by DELETEs or shorter values, so more is garbage than was measured.
  virtual void on_freed() = 0;
  // Memory was granted, collected or freed.
  virtual void on_change() = 0;
  virtual void on_collected(std::uint32_t space) = 0;

  // The bytes that can hold data.
  virtual std::uint64_t capacity_bytes() const = 0;
  // The last measurement of live data. None if semi-spaces were collected since.
  virtual std::optional<MeasurementTime> measured() const = 0;
  virtual bool is_idle() const = 0;

  // The main loop of a fiber, if it needs one.
  virtual bool has_fiber() const = 0;
  virtual void run() = 0;
};

}  // namespace falafel::engine
