// Two mature spaces, of which one is active (Behringer 3.6.1). A collection of it moves what is
// live to the other one.
//
// There is room for a region if the active space can take it besides all others that are granted or
// not yet collected. The reserve is a 32nd of the space more, and at least one region, so that one
// collection of the space makes room for more overwrites, the longer it takes. Without room, the
// server measures how much of the active space is live, and collects it if that makes room. Bytes
// that are in use but not live never become live, so there is at least as much garbage later.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/server/mature_space.h"
#include "engine/server/memory_book.h"
#include "engine/server/server_inspection.h"
#include "engine/server/server_options.h"
#include "fabric/fabric.h"

namespace falafel::engine {

class SemiSpaces final : public MatureSpace {
 public:
  SemiSpaces(fabric::Host& host, const ServerOptions& options, const MemoryBook& book,
             ServerStatistics& statistics, MatureSpaceControl& control);

  Outlook room_for(const RoomRequest& request) const override;
  void make_room(RoomRequest& request) override;
  void on_waiting(const RoomRequest&) override {}
  void on_freed() override { has_freed_ = true; }
  void on_change() override {}
  void on_collected(std::uint32_t space) override;
  std::uint64_t capacity_bytes() const override { return geometry_.mature_bytes; }
  std::optional<MeasurementTime> measured() const override;
  bool is_idle() const override { return !is_collection_asked_; }
  bool has_fiber() const override { return false; }
  void run() override {}

 private:
  struct Measurement {
    std::uint64_t number = 0;
    std::uint64_t garbage_bytes = 0;
    std::uint64_t used_bytes = 0;  // of the active space, when it began
    MeasurementTime time;
    std::uint64_t entries_cleaned = 0;  // when it began
  };

  std::uint64_t used_bytes() const;  // of the active space
  bool has_room_without(std::uint64_t garbage_bytes, bool overwrites) const;
  bool has_room_after_collection(bool overwrites) const;
  bool is_measurement_due(const RoomRequest& request) const;
  // When the next measurement may begin.
  std::uint64_t due_ns() const;
  // Clients or cleanups have freed memory since the last measurement began.
  bool has_freed_memory() const;
  bool can_evict(const RoomRequest& request) const;
  void measure(RoomRequest& request);

  fabric::Host& host_;
  const ServerOptions& options_;
  const Geometry& geometry_;
  const MemoryBook& book_;
  ServerStatistics& statistics_;
  MatureSpaceControl& control_;
  const std::uint64_t reserve_regions_;
  std::optional<Measurement> measurement_;
  bool is_collection_asked_ = false;
  bool has_freed_ = false;  // clients have freed memory since the last measurement began
};

}  // namespace falafel::engine
