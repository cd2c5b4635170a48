// A campaign in parts: of a shard of the seeds, saved as it goes, interrupted and continued.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "explorer/campaign.h"

namespace falafel::command_line {

// The I-th of N parts of the seeds: every N-th of them, beginning with the I-th.
struct Shard {
  std::uint64_t number = 1;  // I
  std::uint64_t of = 1;      // N
};

// From "I/N". Empty: the text is no shard.
std::optional<Shard> parse_shard(const std::string& text);

// The options of the shard's campaign.
explorer::CampaignOptions restrict_to(const Shard& shard, explorer::CampaignOptions campaign);

struct CampaignPlan {
  explorer::CampaignOptions campaign;
  std::string results;   // a file, saved several times a minute; empty: nothing is saved
  bool resumes = false;  // continues what the file has, if it exists
};

struct CampaignOutcome {
  explorer::CampaignResult result;
  bool is_interrupted = false;  // by a signal, before everything was run
};

// Gets the result of the parts that are done, and of the part that is under way.
using PartProgress =
    std::function<void(const explorer::CampaignResult&, const explorer::CampaignResult&)>;

// Runs the campaign until it is complete, its time is over, or SIGINT or SIGTERM arrives. An error
// names the file, and what is wrong with it.
tl::expected<CampaignOutcome, std::string> run_in_parts(const explorer::Program& program,
                                                        const CampaignPlan& plan,
                                                        const PartProgress& progress);

}  // namespace falafel::command_line
