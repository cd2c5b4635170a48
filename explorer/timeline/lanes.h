// Maps hosts, their fibers and their queue pairs to lanes of a timeline. By default, each host has
// one lane, in the order of the hosts, and memory has the last one.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "explorer/subjects.h"
#include "explorer/timeline/timeline.h"
#include "fabric/sim/trace.h"
#include "fabric/work_request.h"

namespace falafel::timeline {

class Lanes {
 public:
  virtual ~Lanes() = default;

  virtual void introduce(const sim::Subject& subject) = 0;
  // By number in the simulation.
  virtual std::uint32_t of_host(std::uint32_t host) const = 0;
  virtual std::uint32_t of_fiber(std::uint32_t fiber) const = 0;
  virtual std::uint32_t of_queue_pair(std::uint32_t queue_pair) const = 0;
  // The lane of a request that the fiber posts to the queue pair.
  virtual std::uint32_t of_request(std::uint32_t queue_pair, std::uint32_t fiber,
                                   fabric::Opcode opcode) const = 0;
  // The lane of a party that calls an operation or makes a note: a host, or another party.
  virtual std::uint32_t of_party(std::string_view party) = 0;

  // All lanes, after the run. One of them is of the kind memory_lane.
  virtual std::vector<Lane> to_lanes() const = 0;

 protected:
  Lanes() = default;
  Lanes(const Lanes&) = default;
  Lanes& operator=(const Lanes&) = default;
};

class HostLanes final : public Lanes {
 public:
  void introduce(const sim::Subject& subject) override;
  std::uint32_t of_host(std::uint32_t host) const override { return host; }
  std::uint32_t of_fiber(std::uint32_t fiber) const override;
  std::uint32_t of_queue_pair(std::uint32_t queue_pair) const override;
  std::uint32_t of_request(std::uint32_t queue_pair, std::uint32_t, fabric::Opcode) const override {
    return of_queue_pair(queue_pair);
  }
  // A party that is not a host gets a lane of its own.
  std::uint32_t of_party(std::string_view party) override;
  std::vector<Lane> to_lanes() const override;

 private:
  std::uint32_t of_name(std::string_view name) const;

  explorer::Subjects subjects_;
  std::vector<Lane> lanes_;
};

}  // namespace falafel::timeline
