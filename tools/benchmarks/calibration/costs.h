// Costs of the processor that cannot be zero. They are differences of measurements, so noise can
// hide them. A calibration that does not see such a cost must not call it free.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/benchmarks/calibration/load.h"
#include "tools/benchmarks/calibration/spread.h"

namespace falafel::calibration {

struct ShownCost {
  std::vector<std::string_view> values;  // of the profile, whose sum the rounds show
  Spread ns;
};

// True if the rounds show that the cost is greater than zero.
inline bool is_told(const ShownCost& cost) { return cost.ns.low > 0; }

// For example "post_ns: 12.500 (9.100 to 14.000 in 5 rounds)".
std::string to_text(const ShownCost& cost);

// The least cost of one short request of any kind. Some fabrics do the work of a request while they
// post it, and the time that one kind takes longer than another does not belong to posting.
double least(const Measurement& measured, double Cost::*quantity);

// The time of the processor to post and poll a request, without the two locks that this takes.
double post_ns(const Measurement& measured);

// The client's own work: the time by which its GETs are longer than predicted without that work. A
// GET of a present key takes one round trip more than that of an absent one.
struct ClientWork {
  Spread first_round_trip_ns;    // of an operation, with all else that the operation costs
  Spread further_round_trip_ns;  // alone
};

// `predicted` is by the profile that was fitted to the medians of the rounds, without the client's
// work. Disturbances slow the READs and the GETs of a round alike, so each round's GETs are
// compared with its own READs.
ClientWork client_work(const std::vector<Measurement>& rounds, const StoreLatency& predicted);

std::vector<ShownCost> shown_costs(const std::vector<Measurement>& rounds, const ClientWork& work);

}  // namespace falafel::calibration
