// Every part is a campaign of its own over the next seeds, and runs all seeds that it has begun. So
// saved results are always of whole runs over the first seeds, and a campaign that was interrupted
// goes on with the next one.
#include "explorer/commands/campaign_in_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <map>
#include <utility>

#include "explorer/commands/campaign_verdict.h"
#include "fabric/assert.h"
#include "processes/termination_signals.h"

namespace falafel::command_line {
namespace {

constexpr double seconds_between_saves = 10;

bool is_of(const explorer::CampaignResult& result, const explorer::CampaignIdentity& identity,
           const explorer::CampaignOptions& campaign) {
  if (result.identity != identity || result.seeds.size() > 1) return false;
  return result.seeds.empty() || (result.seeds[0].first == campaign.first_seed &&
                                  result.seeds[0].stride == campaign.stride);
}

// The result that the file has already of this campaign.
tl::expected<explorer::CampaignResult, std::string> earlier_result(const explorer::Program& program,
                                                                   const CampaignPlan& plan) {
  explorer::CampaignResult none;
  none.identity = explorer::identify(program, plan.campaign.scenario_options);
  std::error_code error;
  if (plan.results.empty() || !std::filesystem::exists(plan.results, error)) return none;
  if (!plan.resumes) {
    return tl::unexpected(fmt::format(
        "--results {}: the file exists; continue it with --resume, or name another file",
        plan.results));
  }
  auto result = explorer::load_result(plan.results);
  if (!result) return tl::unexpected("--resume: " + result.error());
  if (is_of(*result, none.identity, plan.campaign)) return result;
  return tl::unexpected(fmt::format(
      "--resume: {} is of another campaign. It has run the seeds {} of the program {}, built as "
      "{}, "
      "with the options that the file lists. Use the same program and options, or another file",
      plan.results, describe_seeds(result->seeds), result->identity.program,
      result->identity.build));
}

bool is_over(const explorer::CampaignOptions& campaign, const explorer::CampaignResult& done,
             double seconds) {
  return (campaign.schedules > 0 && done.seed_count() >= campaign.schedules) ||
         (campaign.seconds > 0 && seconds >= campaign.seconds) ||
         (campaign.stops_at_violation && !done.holds());
}

// `seconds` of the campaign are over.
explorer::CampaignOptions next_part(const CampaignPlan& plan, const explorer::CampaignResult& done,
                                    double seconds) {
  explorer::CampaignOptions part = plan.campaign;
  part.first_seed += done.seed_count() * part.stride;
  if (part.schedules > 0) part.schedules -= done.seed_count();
  if (part.seconds > 0) part.seconds -= seconds;
  if (plan.results.empty()) return part;
  part.seconds =
      part.seconds > 0 ? std::min(part.seconds, seconds_between_saves) : seconds_between_saves;
  return part;
}

// The times at which a part reached something first are those of its reports, several per second.
class PartObserver {
 public:
  PartObserver(const explorer::Program& program, const explorer::CampaignResult& before)
      : program_(program), before_(before) {}

  // The result of everything so far, with the times of what was reached.
  explorer::CampaignResult sum_with(const explorer::CampaignResult& part,
                                    const std::map<std::string, std::uint64_t>& conditions) {
    explorer::CampaignResult sum = before_;
    const auto added = add(sum, part);
    FALAFEL_ASSERT(added.has_value(), "parts of one campaign do not add up: {}", added.error());
    sum.conditions = conditions;
    for (const auto& [name, count] : program_.conditions()) sum.conditions[name] += count;
    sum.first_reached = first_reached_;
    note_first_reached(sum);
    first_reached_ = sum.first_reached;
    return sum;
  }

 private:
  const explorer::Program& program_;
  const explorer::CampaignResult& before_;
  std::map<std::string, explorer::FirstReach> first_reached_ = before_.first_reached;
};

}  // namespace

std::optional<Shard> parse_shard(const std::string& text) {
  Shard shard;
  char behind = '\0';
  const int fields =
      std::sscanf(text.c_str(), "%" SCNu64 "/%" SCNu64 "%c", &shard.number, &shard.of, &behind);
  if (fields != 2 || shard.number == 0 || shard.number > shard.of) return std::nullopt;
  return shard;
}

explorer::CampaignOptions restrict_to(const Shard& shard, explorer::CampaignOptions campaign) {
  campaign.first_seed += shard.number - 1;
  campaign.stride = shard.of;
  if (campaign.schedules > 0) {
    campaign.schedules = (campaign.schedules + shard.of - shard.number) / shard.of;
  }
  return campaign;
}

tl::expected<CampaignOutcome, std::string> run_in_parts(const explorer::Program& program,
                                                        const CampaignPlan& plan,
                                                        const PartProgress& progress) {
  auto earlier = earlier_result(program, plan);
  if (!earlier) return tl::unexpected(std::move(earlier.error()));
  CampaignOutcome outcome{.result = std::move(*earlier)};
  explorer::CampaignResult& done = outcome.result;
  const auto earlier_conditions = done.conditions;
  const double earlier_seconds = done.seconds;
  processes::TerminationSignals signals;
  for (;;) {
    const double seconds = done.seconds - earlier_seconds;
    if (is_over(plan.campaign, done, seconds)) return outcome;
    outcome.is_interrupted = signals.arrived();
    if (outcome.is_interrupted) return outcome;
    PartObserver observer(program, done);
    const auto part = explorer::run_campaign(program, next_part(plan, done, seconds),
                                             [&](const explorer::CampaignResult& so_far) {
                                               progress(done, so_far);
                                               observer.sum_with(so_far, earlier_conditions);
                                               return !signals.arrived();
                                             });
    done = observer.sum_with(part, earlier_conditions);
    if (plan.results.empty()) continue;
    if (auto saved = save_result(done, plan.results); !saved) {
      return tl::unexpected("--results " + saved.error());
    }
  }
}

}  // namespace falafel::command_line
